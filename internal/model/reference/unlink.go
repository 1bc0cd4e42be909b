package reference

// UNLINK and RMDIR.

import "syscall"

func (c *call) unlink() syscall.Errno {
	p, e := c.occupied(c.Header.NodeId, c.Names[0])
	if e == 0 {
		e = c.mayDelete(p, false)
	}
	if e != 0 {
		return e
	}
	c.detach(p)
	return 0
}

func (c *call) rmdir() syscall.Errno {
	p, e := c.occupied(c.Header.NodeId, c.Names[0])
	if e == 0 {
		e = c.mayDelete(p, true)
	}
	if e == 0 && p.entry.node.dir.len() > 0 {
		e = syscall.ENOTEMPTY
	}
	if e != 0 {
		return e
	}
	c.detach(p)
	return 0
}

// detach takes a name away, and with it an empty directory's "." and "..".
func (c *call) detach(p place) {
	n := p.entry.node
	p.dir.dir.remove(p.entry)
	p.dir.modified(c.Header.Now)
	if n.dir != nil {
		p.dir.nlink--
		n.nlink--
	}
	c.fs.dropLink(n, c.Header.Now)
}
