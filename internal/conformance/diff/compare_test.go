// The comparison itself: it must see every kind of difference that is planted.

package diff

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// lies are changes of what the second side answers, by the name of what is changed.
var lies = map[string]func(*result){
	"errno":                      func(r *result) { r.Errno ^= 1 },
	"value":                      func(r *result) { r.Val++ },
	"process":                    func(r *result) { r.Pid++ },
	"bytes":                      func(r *result) { r.Text = append(r.Text, 'x') },
	"absence":                    eachStat(func(s *Stat) { *s = Stat{What: s.What, Errno: int(unix.ENOENT)} }),
	"mode":                       eachStat(func(s *Stat) { s.Mode ^= 0o1 }),
	"nlink":                      eachStat(func(s *Stat) { s.Nlink++ }),
	"uid":                        eachStat(func(s *Stat) { s.UID++ }),
	"gid":                        eachStat(func(s *Stat) { s.GID++ }),
	"size":                       eachStat(func(s *Stat) { s.Size++ }),
	"blocks":                     eachStat(func(s *Stat) { s.Blocks += 8 }),
	"blksize":                    eachStat(func(s *Stat) { s.Blksize *= 2 }),
	"rdev":                       eachStat(func(s *Stat) { s.RdevMin++ }),
	"inode":                      eachStat(func(s *Stat) { s.Ino = 7 }),
	"atime":                      eachStat(func(s *Stat) { s.Atime.Sec -= 1e6 }),
	"mtime":                      eachStat(func(s *Stat) { s.Mtime.Sec -= 1e6 }),
	"ctime":                      eachStat(func(s *Stat) { s.Ctime.Sec -= 1e6 }),
	"mtime that does not change": eachStat(func(s *Stat) { s.Mtime.Nsec = 0; s.Mtime.Sec &^= 0xfff }),
	"ctime that does not change": eachStat(func(s *Stat) { s.Ctime.Nsec = 0; s.Ctime.Sec &^= 0xfff }),
	"no btime":                   eachStat(func(s *Stat) { s.HasBirth = false }),
	"btime that changes":         eachStat(func(s *Stat) { s.Birth.Nsec = s.Ctime.Nsec + 1 }),
	"tree paths":                 eachNode(func(n *Node) { n.Path += "x" }),
	"tree content":               eachNode(func(n *Node) { n.Content += "x" }),
	"tree xattrs":                eachNode(func(n *Node) { n.Xattrs = append(n.Xattrs, "user.x=1") }),
	"tree entry type":            eachNode(func(n *Node) { n.DirType++ }),
	"tree entry number":          eachNode(func(n *Node) { n.DirIno = !n.DirIno }),
	"tree nlink":                 eachNode(func(n *Node) { n.Stat.Nlink++ }),
}

func eachStat(change func(*Stat)) func(*result) {
	return func(r *result) {
		for i := range r.Stats {
			if r.Stats[i].Errno == 0 {
				change(&r.Stats[i])
			}
		}
	}
}

func eachNode(change func(*Node)) func(*result) {
	return func(r *result) {
		for i := range r.Tree {
			change(&r.Tree[i])
		}
	}
}

func TestComparisonSeesDifferences(t *testing.T) {
	requireMounting(t)
	w := newWorld(t, &Mode{Name: "tmpfs", Target: Tmpfs{}, Direct: true, Twin: true})
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			w.Mutate = lie
			require.True(t, seen(w), "no sequence showed the difference")
		})
	}
}

// seen reports whether one of some sequences fails.
func seen(w *World) bool {
	for seed := range 40 {
		if w.Run(Scripts.Example(seed)) != nil {
			return true
		}
	}
	return false
}

func TestShrink(t *testing.T) {
	requireMounting(t)
	w := newWorld(t, &Mode{Name: "tmpfs", Target: Tmpfs{}, Direct: true, Twin: true})
	w.Mutate = eachStat(func(s *Stat) { s.Nlink = min(s.Nlink, 3) })
	for seed := range 10000 {
		if failure := w.Run(Scripts.Example(seed)); failure != nil {
			require.LessOrEqual(t, len(w.Shrink(failure).Script.Ops), 4, "four links, or a directory of two")
			return
		}
	}
	t.Fatal("no sequence failed")
}

// TestScriptsDiffer guards against a generator that always draws the same.
func TestScriptsDiffer(t *testing.T) {
	calls := make(map[string]int)
	for seed := range 2000 {
		for _, op := range Scripts.Example(seed).Ops {
			calls[op.Call]++
		}
	}
	for _, row := range callsByName {
		require.Positive(t, calls[row.name], row.name)
	}
}

func TestExclusionsHaveReasons(t *testing.T) {
	for _, x := range exclusions {
		require.NotEmpty(t, x.Name)
		require.NotEmpty(t, x.Reason, x.Name)
		require.Equal(t, x.Skip == nil, x.By != "", "%s: either recognised or kept from arising", x.Name)
	}
}
