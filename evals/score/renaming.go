package score

// The one-to-one map between the numbers of the gold trace and the model's.

// renaming knows pairs of its own, those of the renaming below it, and, with
// gold history, that whatever lives has its gold number.
type renaming struct {
	below    *renaming
	gold     *Gold // nil in rollouts
	at       int
	to, from map[name]uint64
}

func newRenaming() *renaming {
	r := &renaming{}
	r.bind(name{kind: Node, n: 1}, 1)
	return r
}

// forcedRenaming is that of a step with gold history.
func forcedRenaming(g *Gold, at int) *renaming { return &renaming{gold: g, at: at} }

// over is an empty renaming over r, for what a reply says before it is accepted.
func (r *renaming) over() *renaming { return &renaming{below: r} }

// model is the model's number for a gold name.
func (r *renaming) model(n name) (uint64, bool) {
	for ; r != nil; r = r.below {
		if m, ok := r.to[n]; ok {
			return m, true
		}
		if r.gold != nil && r.gold.alive(n, r.at) {
			return n.n, true
		}
	}
	return 0, false
}

// goldOf is the gold number for a model's name.
func (r *renaming) goldOf(n name) (uint64, bool) {
	for ; r != nil; r = r.below {
		if g, ok := r.from[n]; ok {
			return g, true
		}
		if r.gold != nil && r.gold.alive(n, r.at) {
			return n.n, true
		}
	}
	return 0, false
}

func (r *renaming) bind(gold name, model uint64) {
	if r.to == nil {
		r.to, r.from = map[name]uint64{}, map[name]uint64{}
	}
	r.to[gold] = model
	r.from[name{gold.kind, gold.scope, model}] = gold.n
}

// match holds a model's number against gold's, and binds them where both are new.
func (r *renaming) match(gold name, model uint64) bool {
	if known, ok := r.model(gold); ok {
		return known == model
	}
	if gold.kind == Node && (gold.n == 0) != (model == 0) {
		return false
	}
	if _, ok := r.goldOf(name{gold.kind, gold.scope, model}); ok {
		return false
	}
	r.bind(gold, model)
	return true
}

// accept takes over what a renaming above r has bound.
func (r *renaming) accept(above *renaming) {
	for gold, model := range above.to {
		r.bind(gold, model)
	}
}

// end lets the numbers of something that is gone be used again.
func (r *renaming) end(gold name) {
	if model, ok := r.to[gold]; ok {
		delete(r.to, gold)
		delete(r.from, name{gold.kind, gold.scope, model})
	}
	if gold.kind != Node {
		return
	}
	for n := range r.to { // its generations
		if n.kind == Generation && n.scope == gold.n {
			delete(r.from, name{n.kind, n.scope, r.to[n]})
			delete(r.to, n)
		}
	}
}

// fresh is a number for gold that the model has not used: gold's own if it can be.
func (r *renaming) fresh(gold name) uint64 {
	if model, ok := r.model(gold); ok {
		return model
	}
	model := gold.n
	for n := range r.from {
		if n.kind == gold.kind && n.scope == gold.scope && n.n == gold.n {
			model = 0
		}
	}
	if model == 0 && gold.n != 0 {
		for n := range r.from {
			if n.kind == gold.kind && n.scope == gold.scope {
				model = max(model, n.n)
			}
		}
		model++
	}
	r.bind(gold, model)
	return model
}
