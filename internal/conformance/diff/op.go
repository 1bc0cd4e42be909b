// One operation of a sequence: which process makes which system call with which arguments.

package diff

// Op is one system call as data. Args are in their script form: a path, a number or names of
// constants joined by |, quoted bytes, or the name of a descriptor slot.
type Op struct {
	Actor int    // index into actors
	Call  string // name of a row of calls
	Args  []string
	To    string // descriptor slot that receives the result, or ""
}

// Script is a sequence of operations. With Quiet set, nothing is looked at between the
// operations, so that the kernel's caches stay as the calls left them.
type Script struct {
	Quiet bool
	Ops   []Op
}

// actor is the identity of one process of each side.
type actor struct {
	uid, gid int
	groups   []int
}

var actors = []actor{
	{0, 0, nil},
	{0, 0, nil},
	{1000, 1000, []int{1000, 2000, 2001}},
	{1001, 1001, []int{1001}},
}

// slots are the names of a process's descriptors.
var slots = []string{"f0", "f1", "f2"}
