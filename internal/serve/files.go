package serve

// /v1/files.

import (
	"errors"
	"io"
	"net/http"
	"strconv"
)

// purposes that a file may be uploaded for.
var purposes = []string{"assistants", "batch", "evals", "fine-tune", "user_data", "vision"}

func (s *Server) createFile(x *exchange) *apiError {
	return s.plainly(x, func() *apiError {
		const inMemory = 32 << 20
		var large *http.MaxBytesError
		err := x.r.ParseMultipartForm(inMemory)
		switch {
		case errors.As(err, &large):
			e := invalid("file", "request_too_large", "File is too large. The maximum is %d bytes.", large.Limit)
			e.status = http.StatusRequestEntityTooLarge
			return e
		case err != nil:
			return invalid("file", "", "Could not parse multipart form: %v", err)
		}
		purpose := x.r.FormValue("purpose")
		if purpose == "" {
			return invalid("purpose", "missing_required_parameter", "Missing required parameter: 'purpose'.")
		}
		if err := (&field{kind: anyKind, enum: purposes}).checkText("purpose", purpose); err != nil {
			return err
		}
		part, header, err := x.r.FormFile("file")
		if err != nil {
			return invalid("file", "missing_required_parameter", "Missing required parameter: 'file'.")
		}
		defer func() { _ = part.Close() }()
		content, err := io.ReadAll(part)
		if err != nil || len(content) == 0 {
			return invalid("file", "", "File is empty.")
		}
		writeJSON(x.w, http.StatusOK, s.addFile(header.Filename, purpose, content))
		return nil
	})
}

// checkText is check of a value that is no JSON.
func (f *field) checkText(path, value string) *apiError {
	for _, known := range f.enum {
		if value == known {
			return nil
		}
	}
	return invalidValue(path, value, f.enum)
}

func (s *Server) listFiles(x *exchange) *apiError {
	return s.plainly(x, func() *apiError {
		list := listOf[file]{Object: "list", Data: []file{}}
		s.store.mu.Lock()
		for _, f := range s.store.files {
			if purpose := x.r.FormValue("purpose"); purpose == "" || purpose == f.Purpose {
				list.Data = append(list.Data, *f)
			}
		}
		s.store.mu.Unlock()
		if n := len(list.Data); n > 0 {
			list.FirstID, list.LastID = list.Data[0].ID, list.Data[n-1].ID
		}
		writeJSON(x.w, http.StatusOK, list)
		return nil
	})
}

func (s *Server) getFile(x *exchange) *apiError {
	return s.withFile(x, func(f *file) { writeJSON(x.w, http.StatusOK, f) })
}

func (s *Server) getContent(x *exchange) *apiError {
	return s.withFile(x, func(f *file) {
		x.w.Header().Set("Content-Type", "application/octet-stream")
		x.w.Header().Set("Content-Length", strconv.Itoa(f.Bytes))
		_, _ = x.w.Write(f.content) // the client may have gone
	})
}

func (s *Server) deleteFile(x *exchange) *apiError {
	return s.withFile(x, func(f *file) {
		s.store.removeFile(f.ID)
		writeJSON(x.w, http.StatusOK, map[string]any{"id": f.ID, "object": "file", "deleted": true})
	})
}

func (s *Server) withFile(x *exchange, serve func(*file)) *apiError {
	return s.plainly(x, func() *apiError {
		id := x.r.PathValue("id")
		f := s.store.file(id)
		if f == nil {
			e := notFound("", "No such File object: %s", id)
			e.param = "id"
			return e
		}
		serve(f)
		return nil
	})
}
