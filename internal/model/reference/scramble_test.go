package reference

import (
	"math/rand/v2"
	"reflect"
)

// scramble gives every number in a struct one of the values.
func scramble(in any, values []uint64, rnd *rand.Rand) {
	if in != nil {
		scrambleValue(reflect.ValueOf(in).Elem(), values, rnd)
	}
}

func scrambleValue(v reflect.Value, values []uint64, rnd *rand.Rand) {
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			scrambleValue(v.Field(i), values, rnd)
		}
	case v.CanUint() && v.CanSet():
		v.SetUint(values[rnd.IntN(len(values))] & (1<<v.Type().Bits() - 1))
	}
}
