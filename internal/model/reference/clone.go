package reference

// Copies of a whole filesystem, for those who want to go on from one state in
// more than one way.

// Clone is a filesystem that answers as f would from here on, and shares
// nothing with it. Requests that wait for a lock are not taken along.
func (f *FS) Clone() *FS {
	f.ns.Lock()
	defer f.ns.Unlock()
	f.locks.mu.Lock()
	defer f.locks.mu.Unlock()
	g := &FS{
		opt: f.opt, names: f.names, valid: f.valid, lastIno: f.lastIno,
		inodes: make(map[uint64]*inode, len(f.inodes)),
		files:  handles{open: make(map[uint64]*handle, len(f.files.open)), last: f.files.last},
	}
	g.rooted.Store(f.rooted.Load())
	g.space.copyLimits(&f.space)
	c := cloner{from: f, to: g}
	for _, n := range f.inodes {
		c.inode(n)
	}
	for _, n := range f.inodes {
		c.directory(n)
	}
	for fh, h := range f.files.open {
		g.files.open[fh] = &handle{c.inode(h.node), h.flags}
	}
	return g
}

// copyLimits begins a space that is as full as another one, with memory of its own.
func (s *space) copyLimits(from *space) {
	s.maxBlocks, s.maxInodes, s.memory = from.maxBlocks, from.maxInodes, newArena()
	s.usedBlocks.Store(from.usedBlocks.Load())
	s.usedInodes.Store(from.usedInodes.Load())
	s.usedACLs.Store(from.usedACLs.Load())
}

// cloner makes each inode once.
type cloner struct{ from, to *FS }

func (c *cloner) inode(n *inode) *inode {
	if made := c.to.inodes[n.ino]; made != nil {
		return made
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	m := &inode{
		ino: n.ino, format: n.format, mode: n.mode, uid: n.uid, gid: n.gid, rdev: n.rdev, nlink: n.nlink,
		flags: n.flags, linkable: n.linkable, size: n.size, target: n.target,
		atime: n.atime, mtime: n.mtime, ctime: n.ctime, btime: n.btime,
		data: n.data.clone(c.to.space.memory), attrs: n.attrs.clone(), locks: n.locks.clone(),
	}
	m.lookups.Store(n.lookups.Load())
	m.opens.Store(n.opens.Load())
	c.to.inodes[n.ino] = m
	return m
}

// directory copies the entries of n, whose inodes all have been made. A parent
// that was removed may be gone; nobody asks for it then.
func (c *cloner) directory(n *inode) {
	if n.dir == nil {
		return
	}
	d := &directory{last: n.dir.last, unseen: n.dir.unseen, page: n.dir.page, ends: n.dir.ends}
	if d.parent = c.to.inodes[n.dir.parent.ino]; d.parent == nil {
		d.parent = c.to.inodes[rootIno]
	}
	for _, e := range n.dir.order {
		if e.node == nil {
			continue
		}
		if d.byName == nil {
			d.byName = make(map[string]*dirent, len(n.dir.byName))
		}
		copied := &dirent{e.name, c.inode(e.node), e.seq}
		d.byName[e.name] = copied
		d.order = append(d.order, copied)
	}
	c.to.inodes[n.ino].dir = d
}

func (p *pages) clone(memory *arena) pages {
	copied := pages{blocks: p.blocks}
	for _, from := range p.chunks {
		to := &chunk{index: from.index, alloc: from.alloc, data: from.data}
		for i, m := range from.mem {
			if m == nil {
				continue
			}
			if to.mem[i] = memory.get(false); to.mem[i] != nil {
				*to.mem[i] = *m
			}
		}
		copied.chunks = append(copied.chunks, to)
	}
	return copied
}

// clone copies the list; values and ACLs are never changed in place.
func (x *xattrs) clone() *xattrs {
	if x == nil {
		return nil
	}
	return &xattrs{append([]xattr(nil), x.list...), x.access, x.def}
}

func (l *fileLocks) clone() *fileLocks {
	if l == nil {
		return nil
	}
	return &fileLocks{append([]lock(nil), l.posix...), append([]lock(nil), l.flock...)}
}

// Footprint estimates the memory that f takes, in bytes.
func (f *FS) Footprint() int64 {
	const perInode = 1 << 10
	f.ns.RLock()
	defer f.ns.RUnlock()
	return f.space.usedBlocks.Load()*pageSize + int64(len(f.inodes))*perInode
}

// Numbers are those that were given out last.
type Numbers struct{ Node, Fh uint64 }

// Numbers is where f is.
func (f *FS) Numbers() Numbers {
	f.ns.RLock()
	defer f.ns.RUnlock()
	f.files.mu.Lock()
	defer f.files.mu.Unlock()
	return Numbers{f.lastIno, f.files.last}
}

// SetNumbers makes f go on from other numbers: what comes after them must be
// free.
func (f *FS) SetNumbers(n Numbers) {
	f.ns.Lock()
	defer f.ns.Unlock()
	f.files.mu.Lock()
	defer f.files.mu.Unlock()
	f.lastIno, f.files.last = n.Node, n.Fh
}

// Free says whether neither number is in use; 0 always is free.
func (f *FS) Free(n Numbers) bool {
	f.ns.RLock()
	defer f.ns.RUnlock()
	f.files.mu.Lock()
	defer f.files.mu.Unlock()
	return f.inodes[n.Node] == nil && f.files.open[n.Fh] == nil
}
