package serve

// Answers as chat completions.

type chatCompletion struct {
	ID          string       `json:"id"`
	Object      string       `json:"object"`
	Created     int64        `json:"created"`
	Model       string       `json:"model"`
	Choices     []chatChoice `json:"choices"`
	Usage       chatUsage    `json:"usage"`
	ServiceTier string       `json:"service_tier"`
	Fingerprint *string      `json:"system_fingerprint"`
}

type chatChoice struct {
	Index    int      `json:"index"`
	Message  chatText `json:"message"`
	Logprobs *string  `json:"logprobs"`
	Finish   string   `json:"finish_reason"`
}

type chatText struct {
	Role        string   `json:"role"`
	Content     *string  `json:"content"`
	Refusal     *string  `json:"refusal"`
	Reasoning   string   `json:"reasoning_content,omitempty"`
	Annotations []string `json:"annotations"`
}

type chatUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
		Audio  int `json:"audio_tokens"`
	} `json:"prompt_tokens_details"`
	More struct {
		Reasoning int `json:"reasoning_tokens"`
		Audio     int `json:"audio_tokens"`
	} `json:"completion_tokens_details"`
}

func (u usage) chat() (c chatUsage) {
	c.Prompt, c.Completion, c.Total, c.Details.Cached = u.prompt, u.completion, u.prompt+u.completion, u.cached
	return c
}

func (out *said) completion(model string) *chatCompletion {
	c := &chatCompletion{
		ID: out.id, Object: "chat.completion", Created: out.created, Model: model, Usage: out.usage.chat(),
		ServiceTier: "default", Choices: []chatChoice{},
	}
	if out.empty {
		return c
	}
	m := chatText{Role: roleAssistant, Refusal: orNull(out.refusal), Reasoning: out.reasoning, Annotations: []string{}}
	if !out.null {
		m.Content = &out.content
	}
	c.Choices = append(c.Choices, chatChoice{Message: m, Finish: out.finish})
	return c
}

type chatChunk struct {
	ID          string        `json:"id"`
	Object      string        `json:"object"`
	Created     int64         `json:"created"`
	Model       string        `json:"model"`
	ServiceTier string        `json:"service_tier"`
	Choices     []chunkChoice `json:"choices"`
	Usage       *chatUsage    `json:"usage"`
}

type chunkChoice struct {
	Index    int            `json:"index"`
	Delta    map[string]any `json:"delta"`
	Logprobs *string        `json:"logprobs"`
	Finish   *string        `json:"finish_reason"`
}

// chat writes an answer to POST /v1/chat/completions.
func (w *answerWriter) chat(out *said) error {
	if !w.ask.stream {
		if err := w.whole(out); err != nil {
			return err
		}
		return w.wire.json(out.completion(w.ask.model))
	}
	if err := w.begin(); err != nil {
		return err
	}
	if !out.empty {
		if err := w.chunks(out); err != nil {
			return err
		}
	}
	if w.ask.includeUsage {
		used := out.usage.chat()
		if err := w.chunk(out, nil, "", &used); err != nil {
			return err
		}
	}
	_, err := w.wire.Write([]byte("data: [DONE]\n\n"))
	return err
}

func (w *answerWriter) chunks(out *said) error {
	if err := w.chunk(out, map[string]any{"role": roleAssistant, "content": "", "refusal": nil}, "", nil); err != nil {
		return err
	}
	for _, part := range []struct{ name, text string }{{"reasoning_content", out.reasoning}, {"refusal", out.refusal}, {"content", out.content}} {
		err := w.stream(part.text, w.s.tokens.count(part.text), func(piece string) error {
			return w.chunk(out, map[string]any{part.name: piece}, "", nil)
		})
		if err != nil {
			return err
		}
	}
	return w.chunk(out, map[string]any{}, out.finish, nil)
}

// chunk writes one chunk: of the choice where there is a delta, else of usage.
func (w *answerWriter) chunk(out *said, delta map[string]any, finish string, used *chatUsage) error {
	c := chatChunk{ID: out.id, Object: "chat.completion.chunk", Created: out.created, Model: w.ask.model, ServiceTier: "default", Choices: []chunkChoice{}, Usage: used}
	if delta != nil {
		c.Choices = append(c.Choices, chunkChoice{Delta: delta, Finish: orNull(finish)})
	}
	return w.wire.event("", c)
}
