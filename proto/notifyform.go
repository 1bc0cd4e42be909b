package proto

import "reflect"

// NotifyForm is what the JSON of one kind of notification has beside its code.
type NotifyForm struct {
	Code   NotifyCode
	Out    reflect.Type
	Fields []FieldInfo // of Out; the length of Name or Data is derived from them
	Name   bool        // Name follows
	Data   bool        // Data follows
}

// NotifyForms lists the notifications that a reply may carry.
func NotifyForms() []NotifyForm {
	var forms []NotifyForm
	for code := range notifyTable {
		if row := NotifyCode(code).row(); row != nil {
			forms = append(forms, NotifyForm{
				Code: NotifyCode(code), Out: row.layout.typ, Fields: row.layout.info(),
				Name: row.need&(1<<memberName) != 0, Data: row.data,
			})
		}
	}
	return forms
}
