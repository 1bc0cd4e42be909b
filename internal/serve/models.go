package serve

// GET /v1/models and /v1/models/{id}.

import "net/http"

type modelObject struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func modelOf(name string) modelObject { return modelObject{name, "model", 1735689600, "llmfs-raw"} }

// listOf is a page that is the whole list.
type listOf[T any] struct {
	Object  string `json:"object"`
	Data    []T    `json:"data"`
	FirstID string `json:"first_id,omitempty"`
	LastID  string `json:"last_id,omitempty"`
	HasMore bool   `json:"has_more"`
}

func (s *Server) listModels(x *exchange) *apiError {
	return s.plainly(x, func() *apiError {
		list := listOf[modelObject]{Object: "list"}
		for _, name := range s.o.Models {
			list.Data = append(list.Data, modelOf(name))
		}
		writeJSON(x.w, http.StatusOK, list)
		return nil
	})
}

func (s *Server) getModel(x *exchange) *apiError {
	return s.plainly(x, func() *apiError {
		name := x.r.PathValue("id")
		if !s.knows(name) {
			return noModel(name)
		}
		writeJSON(x.w, http.StatusOK, modelOf(name))
		return nil
	})
}

func noModel(name string) *apiError {
	return notFound("model_not_found", "The model `%s` does not exist or you do not have access to it.", name)
}
