package serve

// Files and batches: what the server keeps until it ends.

import (
	"sync"
	"time"
)

// file is an uploaded file, or what a batch has written.
type file struct {
	ID        string `json:"id"`
	Object    string `json:"object"`
	Bytes     int    `json:"bytes"`
	CreatedAt int64  `json:"created_at"`
	Filename  string `json:"filename"`
	Purpose   string `json:"purpose"`
	Status    string `json:"status"`
	content   []byte
}

type store struct {
	mu      sync.Mutex
	files   []*file
	batches []*batch
	wake    chan struct{} // has an element where a batch may wait
}

func newStore() *store { return &store{wake: make(chan struct{}, 1)} }

func (s *Server) addFile(name, purpose string, content []byte) *file {
	f := &file{
		ID: s.newID("file-"), Object: "file", Bytes: len(content), CreatedAt: time.Now().Unix(),
		Filename: name, Purpose: purpose, Status: "processed", content: content,
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	s.store.files = append(s.store.files, f)
	return f
}

func (s *store) file(id string) *file {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f.ID == id {
			return f
		}
	}
	return nil
}

func (s *store) removeFile(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.files {
		if f.ID == id {
			s.files = append(s.files[:i:i], s.files[i+1:]...)
			return true
		}
	}
	return false
}

// change calls f with the batch of that id, nil where there is none, and copies
// what is left of it.
func (s *store) change(id string, f func(b *batch)) (batch, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.batches {
		if b.ID == id {
			f(b)
			return *b, true
		}
	}
	return batch{}, false
}
