package serve

// Answers of the Responses API.

type responseObject struct {
	ID         string            `json:"id"`
	Object     string            `json:"object"`
	CreatedAt  int64             `json:"created_at"`
	Status     string            `json:"status"`
	Error      *string           `json:"error"`
	Incomplete *incomplete       `json:"incomplete_details"`
	Model      string            `json:"model"`
	Output     []outputItem      `json:"output"`
	Usage      *responsesUsage   `json:"usage"`
	Metadata   map[string]string `json:"metadata"`
	Tools      []string          `json:"tools"`
	ToolChoice string            `json:"tool_choice"`
	Parallel   bool              `json:"parallel_tool_calls"`
	Store      bool              `json:"store"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

type outputItem struct {
	Type    string       `json:"type"`
	ID      string       `json:"id"`
	Role    string       `json:"role,omitempty"`
	Status  string       `json:"status"`
	Content []outputPart `json:"content"`
	Summary []string     `json:"summary,omitempty"`
}

type outputPart struct {
	Type        string   `json:"type"`
	Text        *string  `json:"text,omitempty"`
	Refusal     *string  `json:"refusal,omitempty"`
	Annotations []string `json:"annotations,omitempty"`
}

type responsesUsage struct {
	Input   int `json:"input_tokens"`
	Details struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output int `json:"output_tokens"`
	More   struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

func (u usage) responses() *responsesUsage {
	r := &responsesUsage{Input: u.prompt, Output: u.completion, Total: u.prompt + u.completion}
	r.Details.Cached = u.cached
	return r
}

// incompleteReasons are the finish reasons of chat completions under their
// names here.
var incompleteReasons = map[string]string{length: "max_output_tokens", contentFilter: "content_filter"}

// start is the response before anything of it has come.
func (out *said) start(model string) *responseObject {
	return &responseObject{
		ID: out.id, Object: "response", CreatedAt: out.created, Status: "in_progress", Model: model, Output: []outputItem{},
		Metadata: map[string]string{}, Tools: []string{}, ToolChoice: "auto", Parallel: true,
	}
}

func (out *said) response(model string) *responseObject {
	r := out.start(model)
	r.Status, r.Output, r.Usage = "completed", out.items(), out.usage.responses()
	if reason := incompleteReasons[out.finish]; reason != "" {
		r.Status, r.Incomplete = "incomplete", &incomplete{reason}
	}
	return r
}

func (out *said) items() []outputItem {
	items := []outputItem{}
	if out.empty {
		return items
	}
	if out.reasoning != "" {
		items = append(items, outputItem{Type: "reasoning", ID: "rs_" + out.id, Status: "completed", Content: []outputPart{{Type: "reasoning_text", Text: &out.reasoning}}})
	}
	m := outputItem{Type: "message", ID: "msg_" + out.id, Role: roleAssistant, Status: "completed", Content: []outputPart{}}
	if part, ok := out.part(); ok {
		m.Content = append(m.Content, part)
	}
	return append(items, m)
}

func (out *said) part() (outputPart, bool) {
	switch {
	case out.refusal != "":
		return outputPart{Type: "refusal", Refusal: &out.refusal}, true
	case out.null:
		return outputPart{}, false
	}
	return outputPart{Type: "output_text", Text: &out.content, Annotations: []string{}}, true
}

// responseEvent is one event of a stream; what it has no use for is left out.
type responseEvent struct {
	Type     string          `json:"type"`
	Number   int             `json:"sequence_number"`
	Response *responseObject `json:"response,omitempty"`
	Output   *int            `json:"output_index,omitempty"`
	Content  *int            `json:"content_index,omitempty"`
	ItemID   string          `json:"item_id,omitempty"`
	Item     *outputItem     `json:"item,omitempty"`
	Part     *outputPart     `json:"part,omitempty"`
	Delta    string          `json:"delta,omitempty"`
	Text     *string         `json:"text,omitempty"`
	Refusal  *string         `json:"refusal,omitempty"`
}

// response writes an answer to POST /v1/responses.
func (w *answerWriter) response(out *said) error {
	whole := out.response(w.ask.model)
	if !w.ask.stream {
		if err := w.whole(out); err != nil {
			return err
		}
		return w.wire.json(whole)
	}
	if err := w.begin(); err != nil {
		return err
	}
	e := &responseEvents{w: w}
	e.send(responseEvent{Type: "response.created", Response: out.start(w.ask.model)})
	e.send(responseEvent{Type: "response.in_progress", Response: out.start(w.ask.model)})
	for i := range whole.Output {
		e.item(i, &whole.Output[i])
	}
	e.send(responseEvent{Type: "response." + whole.Status, Response: whole})
	return e.err
}

// responseEvents numbers events, and keeps the first error.
type responseEvents struct {
	w      *answerWriter
	number int
	err    error
}

func (e *responseEvents) send(event responseEvent) {
	if e.err == nil {
		event.Number = e.number
		e.err = e.w.wire.event(event.Type, event)
		e.number++
	}
}

func (e *responseEvents) item(at int, item *outputItem) {
	started := *item
	started.Status, started.Content = "in_progress", []outputPart{}
	e.send(responseEvent{Type: "response.output_item.added", Output: &at, Item: &started})
	for i := range item.Content {
		e.part(responseEvent{Output: &at, Content: &i, ItemID: item.ID}, &item.Content[i])
	}
	e.send(responseEvent{Type: "response.output_item.done", Output: &at, Item: item})
}

func (e *responseEvents) part(place responseEvent, part *outputPart) {
	send := func(kind string, change func(*responseEvent)) {
		event := place
		event.Type = kind
		change(&event)
		e.send(event)
	}
	text, kind := part.Text, "response."+part.Type
	if part.Refusal != nil {
		text = part.Refusal
	}
	blank, none := *part, ""
	if blank.Text != nil {
		blank.Text = &none
	}
	send("response.content_part.added", func(v *responseEvent) { v.Part = &blank })
	err := e.w.stream(*text, e.w.s.tokens.count(*text), func(piece string) error {
		send(kind+".delta", func(v *responseEvent) { v.Delta = piece })
		return e.err
	})
	if e.err == nil {
		e.err = err
	}
	send(kind+".done", func(v *responseEvent) { v.Text, v.Refusal = part.Text, part.Refusal })
	send("response.content_part.done", func(v *responseEvent) { v.Part = part })
}
