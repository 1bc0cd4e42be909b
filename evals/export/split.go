package export

// Which split a trace belongs to.

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

// Split is a part of a set.
type Split string

// The splits. The smallest come first: what they say, the others leave out.
const (
	Test       Split = "test"
	Validation Split = "validation"
	Train      Split = "train"
)

// Splits lists them in the order in which they are made.
var Splits = []Split{Test, Validation, Train}

// Family is the scenario that a trace is a variant of.
func Family(trace string) string {
	area, name, _ := strings.Cut(trace, "/")
	name, _, _ = strings.Cut(name, "-")
	return area + "/" + name
}

// SplitOf is where a family belongs, by shares in percent.
func SplitOf(family string, seed uint64, test, validation int) Split {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, family))
	switch place := int(binary.BigEndian.Uint64(sum[:]) % 100); {
	case place < test:
		return Test
	case place < test+validation:
		return Validation
	}
	return Train
}
