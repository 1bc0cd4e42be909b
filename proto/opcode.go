package proto

// Opcode is enum fuse_opcode of linux/fuse.h.
type Opcode uint32

// The opcodes of linux/fuse.h 7.45. 7 and 19 were never assigned.
const (
	OpLookup          Opcode = 1
	OpForget          Opcode = 2
	OpGetattr         Opcode = 3
	OpSetattr         Opcode = 4
	OpReadlink        Opcode = 5
	OpSymlink         Opcode = 6
	OpMknod           Opcode = 8
	OpMkdir           Opcode = 9
	OpUnlink          Opcode = 10
	OpRmdir           Opcode = 11
	OpRename          Opcode = 12
	OpLink            Opcode = 13
	OpOpen            Opcode = 14
	OpRead            Opcode = 15
	OpWrite           Opcode = 16
	OpStatfs          Opcode = 17
	OpRelease         Opcode = 18
	OpFsync           Opcode = 20
	OpSetxattr        Opcode = 21
	OpGetxattr        Opcode = 22
	OpListxattr       Opcode = 23
	OpRemovexattr     Opcode = 24
	OpFlush           Opcode = 25
	OpInit            Opcode = 26
	OpOpendir         Opcode = 27
	OpReaddir         Opcode = 28
	OpReleasedir      Opcode = 29
	OpFsyncdir        Opcode = 30
	OpGetlk           Opcode = 31
	OpSetlk           Opcode = 32
	OpSetlkw          Opcode = 33
	OpAccess          Opcode = 34
	OpCreate          Opcode = 35
	OpInterrupt       Opcode = 36
	OpBmap            Opcode = 37
	OpDestroy         Opcode = 38
	OpIoctl           Opcode = 39
	OpPoll            Opcode = 40
	OpNotifyReply     Opcode = 41
	OpBatchForget     Opcode = 42
	OpFallocate       Opcode = 43
	OpReaddirplus     Opcode = 44
	OpRename2         Opcode = 45
	OpLseek           Opcode = 46
	OpCopyFileRange   Opcode = 47
	OpSetupmapping    Opcode = 48
	OpRemovemapping   Opcode = 49
	OpSyncfs          Opcode = 50
	OpTmpfile         Opcode = 51
	OpStatx           Opcode = 52
	OpCopyFileRange64 Opcode = 53
)

// String is the kernel's name without its FUSE_ prefix, or "OPCODE(n)".
func (op Opcode) String() string {
	if row := op.Row(); row != nil {
		return row.Name
	}
	return "OPCODE(" + itoa(uint64(op)) + ")"
}

// OpcodeByName finds an opcode by the name that String gives.
func OpcodeByName(name string) (Opcode, bool) {
	op, ok := byName[name]
	return op, ok
}
