package main

// The models that --model names.

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
)

var models = map[string]func(*mountOptions) (model.Model, error){
	"reference": newReference,
}

func modelNames() string { return strings.Join(slices.Sorted(maps.Keys(models)), ", ") }

func newModel(o *mountOptions) (model.Model, error) {
	make, ok := models[o.model]
	if !ok {
		return nil, fmt.Errorf("model %q is unknown, want one of: %s", o.model, modelNames())
	}
	return make(o)
}

func newReference(o *mountOptions) (model.Model, error) {
	ttl := o.ttl
	if ttl == 0 {
		ttl = -1 // none
	}
	return reference.New(reference.Options{
		Size:             int64(o.size),
		ReadOnly:         o.readOnly,
		CheckPermissions: o.ownPermissions,
		DirectIO:         o.directIO,
		TTL:              ttl,
		RootUid:          uint32(os.Geteuid()),
		RootGid:          uint32(os.Getegid()),
		RootMode:         0o755,
	}), nil
}
