package proto

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryOpcodeHasARow(t *testing.T) {
	const last = 53 // FUSE_COPY_FILE_RANGE_64, linux/fuse.h 7.45
	for op := Opcode(1); op <= last; op++ {
		reason, excluded := Unassigned[op]
		if excluded {
			assert.Nil(t, op.Row(), "opcode %d: %s", op, reason)
			continue
		}
		require.NotNil(t, op.Row(), "opcode %d", op)
		assert.Equal(t, op, op.Row().Op)
		named, ok := OpcodeByName(op.String())
		assert.True(t, ok)
		assert.Equal(t, op, named, "two rows are named %v", op)
	}
	assert.Len(t, Rows(), 51)
	assert.Nil(t, Opcode(last+1).Row())
	assert.Equal(t, "OPCODE(4096)", Opcode(4096).String())
}

// sizes are the sizeof of linux/fuse.h 7.45, request header left out.
var sizes = map[Opcode]struct{ in, out int }{
	OpLookup:          {0, 128},  // fuse_entry_out
	OpForget:          {8, 0},    // fuse_forget_in
	OpGetattr:         {16, 104}, // fuse_getattr_in, fuse_attr_out
	OpSetattr:         {88, 104}, // fuse_setattr_in
	OpReadlink:        {0, 0},
	OpSymlink:         {0, 128},
	OpMknod:           {16, 128}, // fuse_mknod_in
	OpMkdir:           {8, 128},  // fuse_mkdir_in
	OpUnlink:          {0, 0},
	OpRmdir:           {0, 0},
	OpRename:          {16, 0}, // fuse_rename2_in, of which fuse_rename_in is 8
	OpLink:            {8, 128},
	OpOpen:            {8, 16}, // fuse_open_in, fuse_open_out
	OpRead:            {40, 0}, // fuse_read_in
	OpWrite:           {40, 8}, // fuse_write_in, fuse_write_out
	OpStatfs:          {0, 80}, // fuse_statfs_out
	OpRelease:         {24, 0}, // fuse_release_in
	OpFsync:           {16, 0}, // fuse_fsync_in
	OpSetxattr:        {16, 0}, // fuse_setxattr_in, of which FUSE_COMPAT_SETXATTR_IN_SIZE is 8
	OpGetxattr:        {8, 8},  // fuse_getxattr_in, fuse_getxattr_out
	OpListxattr:       {8, 8},
	OpRemovexattr:     {0, 0},
	OpFlush:           {24, 0},  // fuse_flush_in
	OpInit:            {64, 64}, // fuse_init_in, fuse_init_out
	OpOpendir:         {8, 16},
	OpReaddir:         {40, 0},
	OpReleasedir:      {24, 0},
	OpFsyncdir:        {16, 0},
	OpGetlk:           {48, 24}, // fuse_lk_in, fuse_lk_out
	OpSetlk:           {48, 0},
	OpSetlkw:          {48, 0},
	OpAccess:          {8, 0},    // fuse_access_in
	OpCreate:          {16, 144}, // fuse_create_in, fuse_entry_out + fuse_open_out
	OpInterrupt:       {8, 0},    // fuse_interrupt_in
	OpBmap:            {16, 8},   // fuse_bmap_in, fuse_bmap_out
	OpDestroy:         {0, 0},
	OpIoctl:           {32, 16}, // fuse_ioctl_in, fuse_ioctl_out
	OpPoll:            {24, 8},  // fuse_poll_in, fuse_poll_out
	OpNotifyReply:     {40, 0},  // fuse_notify_retrieve_in
	OpBatchForget:     {8, 0},   // fuse_batch_forget_in
	OpFallocate:       {32, 0},  // fuse_fallocate_in
	OpReaddirplus:     {40, 0},
	OpRename2:         {16, 0},
	OpLseek:           {24, 8}, // fuse_lseek_in, fuse_lseek_out
	OpCopyFileRange:   {56, 8}, // fuse_copy_file_range_in
	OpSetupmapping:    {40, 0}, // fuse_setupmapping_in
	OpRemovemapping:   {4, 0},  // fuse_removemapping_in
	OpSyncfs:          {8, 0},  // fuse_syncfs_in
	OpTmpfile:         {16, 144},
	OpStatx:           {24, 288}, // fuse_statx_in, fuse_statx_out
	OpCopyFileRange64: {56, 8},   // fuse_copy_file_range_out
}

func TestStructSizesAreTheKernels(t *testing.T) {
	sizeOf := func(l *layout) int {
		if l == nil {
			return 0
		}
		return l.size
	}
	for _, row := range Rows() {
		want, ok := sizes[row.Op]
		require.True(t, ok, "%s has no size here", row.Name)
		assert.Equal(t, want.in, sizeOf(row.in), "%s in", row.Name)
		assert.Equal(t, want.out, sizeOf(row.out), "%s out", row.Name)
		if row.in != nil {
			assert.EqualValues(t, 40, row.in.start, "%s: the in-struct begins with struct fuse_in_header", row.Name)
		}
	}
	assert.Equal(t, 40, inHeaderLen)
	assert.Equal(t, 16, outHeaderLen)
	assert.Equal(t, 16, layoutOf((*ForgetOne)(nil)).size)
	assert.Equal(t, 16, layoutOf((*RemoveMappingOne)(nil)).size)
	for code, want := range map[NotifyCode]int{NotifyInvalInode: 24, NotifyInvalEntry: 16, NotifyStore: 24, NotifyDelete: 24} {
		assert.Equal(t, want, code.row().layout.size, "%v", code)
	}
}

func TestInLengthsByProtocolVersion(t *testing.T) {
	short := Wire{Minor: Minor}
	assert.Equal(t, 8, short.inLen(OpRename.Row(), nil))
	assert.Equal(t, 8, short.inLen(OpSetxattr.Row(), nil))
	assert.Equal(t, 16, whole.inLen(OpSetxattr.Row(), nil))
	assert.Equal(t, 16, short.inLen(OpRename2.Row(), nil))
}
