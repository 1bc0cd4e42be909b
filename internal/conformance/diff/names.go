// The generators of paths and descriptors: few names, so that calls meet each other's objects.

package diff

// sampled draws from a weighted pool.
func sampled(pool []string) func(*drawing) string {
	all := weightedPool(pool)
	return func(d *drawing) string { return all[d.IntN(len(all))] }
}

// likely draws from usual in so many of ten cases, and else from other.
func likely(ofTen int, usual, other func(*drawing) string) func(*drawing) string {
	return func(d *drawing) string {
		if d.IntN(10) < ofTen {
			return usual(d)
		}
		return other(d)
	}
}

var (
	genDir   = sampled([]string{"2×d", "e"})
	genName  = sampled([]string{"20×a", "16×b", "8×c", "16×d", "14×e", "10×s", "1×n{255}", "1×n{256}"})
	genEnd   = sampled([]string{"40×", "/", "/.", "/.."})
	genAlone = sampled([]string{"8×.", "2×..", "/", `""`})
	genSlot  = sampled(slots)
	genBound = likely(8, (*drawing).boundSlot, genSlot)

	genOpenTo = sampled([]string{"16×O_RDWR|O_CREAT", "2×O_RDWR", "O_RDONLY", "2×O_RDWR|O_APPEND|O_CREAT",
		"2×O_RDONLY|O_CREAT", "O_WRONLY|O_CREAT", "2×O_RDWR|O_DIRECT|O_CREAT", "2×O_RDWR|O_TRUNC|O_CREAT"})
	genOpenMode = sampled([]string{"8×0777", "4×0666", "4×01777", "3×0755", "2×02777", "0644", "0700", "04777", "0"})
	genTarget   = sampled([]string{"6×a", "3×b", "8×d", "4×e", "s", "5×d/a", "../a", "..", "2×../d", "/", ".",
		"x{127}", "x{128}", "x{4095}", "x{4096}", `""`, "d/", "a/"})
)

// genActor is one of root's processes in half of all cases.
func genActor(d *drawing) int { return []int{0, 0, 0, 1, 1, 2, 2, 2, 3, 3}[d.IntN(10)] }

// genPath draws a path of at most three components, mostly short ones.
func genPath(d *drawing) string {
	if d.IntN(30) == 0 {
		return genAlone(d)
	}
	path := ""
	for range []int{0, 0, 0, 0, 1, 1, 1, 2}[d.IntN(8)] {
		path += genDir(d) + "/"
	}
	return path + genName(d) + genEnd(d)
}

// genKnown draws a path that an earlier call may have made.
func genKnown(typ int) func(*drawing) string {
	return func(d *drawing) string {
		if len(d.known[typ]) == 0 {
			return genPath(d)
		}
		return d.known[typ][d.IntN(len(d.known[typ]))]
	}
}

// genFD draws the burst's slot, or one that an earlier call of the process may have bound.
func genFD(d *drawing) string {
	if d.slot != "" {
		return d.slot
	}
	return genBound(d)
}

func (d *drawing) boundSlot() string {
	if len(d.bound[d.actor]) == 0 {
		return genSlot(d)
	}
	return d.bound[d.actor][d.IntN(len(d.bound[d.actor]))]
}
