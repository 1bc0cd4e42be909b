package run

// What a run was made of, as hashes: two runs with the same can be compared.

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/llmfs-raw/llmfs-raw/internal/session"
)

func (r *runner) hashes() map[string]string {
	told := r.told(nil)
	return map[string]string{
		"prompt": sum(func(h hash.Hash) { h.Write([]byte(session.SystemMessage(&told))) }),
		"schemas": sum(func(h hash.Hash) {
			for _, s := range session.Schemas(told.Fields) {
				h.Write([]byte(s.Name))
				h.Write(s.JSON)
			}
		}),
		"traces": sum(func(h hash.Hash) {
			for _, info := range r.Traces {
				h.Write([]byte(info.Name + " " + info.SHA256 + "\n"))
			}
		}),
	}
}

// sum is a SHA-256 in hex. Writing to a hash never fails.
func sum(write func(hash.Hash)) string {
	h := sha256.New()
	write(h)
	return hex.EncodeToString(h.Sum(nil))
}
