package serve

// Messages: read as little as possible, because most of a conversation has
// been read before.

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// message is one turn as it came, and what is known of it.
type message struct {
	raw string // JSON, a part of the body
	digest
}

// digest is what is remembered of a message.
type digest struct {
	role   string
	key    key // of role and content
	tokens int // with what stands around it
}

const (
	roleSystem    = "system"
	roleDeveloper = "developer"
	roleUser      = "user"
	roleAssistant = "assistant"
)

// content is the text of a message.
func (m *message) content() string { return textOf(gjson.Get(m.raw, "content")) }

// textOf is a text or the texts of the parts of a content.
func textOf(v gjson.Result) string {
	if !v.IsArray() {
		return v.Str
	}
	var b strings.Builder
	for _, part := range v.Array() {
		b.WriteString(part.Get("text").Str)
	}
	return b.String()
}

func keyOfMessage(role, content string) key { return keyOf(role + "\x00" + content) }

// digests are of messages that were all right, by their JSON.
var digests = newGenerations[key, digest](1 << 16)

// newMessage is a message that needs no check.
func (s *Server) newMessage(raw string) message {
	m := message{raw: raw}
	m.role = gjson.Get(raw, "role").Str
	content := m.content()
	m.key, m.tokens = keyOfMessage(m.role, content), perMessage+s.tokens.count(content)
	return m
}

// messageForm is what the messages of an API may be.
type messageForm struct {
	name   string
	fields fields
	roles  []string
	parts  []string // types of parts of content
}

var (
	chatMessage = &messageForm{
		name: "chat",
		fields: fields{
			"role": {kind: stringKind, required: true}, "content": {kind: stringKind, or: arrayKind}, "name": shortText,
			"refusal": {kind: stringKind}, "annotations": {kind: arrayKind}, "audio": refused, "tool_calls": refused,
			"function_call": refused, "tool_call_id": {kind: stringKind},
		},
		roles: []string{roleSystem, roleAssistant, roleUser, "function", "tool", roleDeveloper},
		parts: []string{"text", "refusal"},
	}
	responsesMessage = &messageForm{
		name: "responses",
		fields: fields{
			"role": {kind: stringKind, required: true}, "content": {kind: stringKind, or: arrayKind, required: true},
			"type": {kind: stringKind, enum: []string{"message"}}, "id": {kind: stringKind}, "status": {kind: stringKind},
		},
		roles: []string{roleAssistant, roleSystem, roleDeveloper, roleUser},
		parts: []string{"input_text", "output_text", "refusal"},
	}
)

// readMessages checks those that are new.
func (s *Server) readMessages(at string, list gjson.Result, form *messageForm) (messages []message, err *apiError) {
	list.ForEach(func(_, v gjson.Result) bool {
		var m message
		if m, err = s.readMessage(fmt.Sprintf("%s[%d]", at, len(messages)), v, form); err != nil {
			return false
		}
		messages = append(messages, m)
		return true
	})
	if err == nil && len(messages) == 0 {
		err = invalid(at, "empty_array", "Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", at)
	}
	return messages, err
}

func (s *Server) readMessage(at string, v gjson.Result, form *messageForm) (message, *apiError) {
	k := keyOf(v.Raw).then(keyOf(form.name))
	if d, ok := digests.get(k); ok {
		return message{v.Raw, d}, nil
	}
	if err := form.check(at, v); err != nil {
		return message{}, err
	}
	m := s.newMessage(v.Raw)
	digests.put(k, m.digest)
	return m, nil
}

const longestContent = 10 << 20 // characters

func (f *messageForm) check(at string, v gjson.Result) *apiError {
	if !v.IsObject() {
		return invalid(at, "invalid_type", "Invalid type for '%s': expected an object, but got %s instead.", at, kindOf(v))
	}
	if err := f.fields.check(at+".", membersOf(v)); err != nil {
		return err
	}
	role, content := v.Get("role").Str, v.Get("content")
	if err := (&field{kind: stringKind, enum: f.roles}).check(at+".role", v.Get("role")); err != nil {
		return err
	}
	switch {
	case content.IsArray():
		return f.checkParts(at+".content", content)
	case content.Type != gjson.String && (role != roleAssistant || v.Get("refusal").Str == ""):
		return invalid(at+".content", "missing_required_parameter", "Missing required parameter: '%s.content'.", at)
	case len(content.Str) > longestContent:
		return invalid(at+".content", "string_above_max_length", "Invalid '%s.content': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", at, longestContent, len(content.Str))
	}
	return nil
}

func (f *messageForm) checkParts(at string, parts gjson.Result) *apiError {
	for i, part := range parts.Array() {
		here := fmt.Sprintf("%s[%d]", at, i)
		if err := (&field{kind: stringKind, required: true, enum: f.parts}).check(here+".type", part.Get("type")); err != nil {
			return err
		}
		if part.Get("text").Type != gjson.String && part.Get("refusal").Type != gjson.String {
			return invalid(here+".text", "missing_required_parameter", "Missing required parameter: '%s.text'.", here)
		}
	}
	return nil
}

func containsFold(text, word string) bool {
	return strings.Contains(strings.ToLower(text), word)
}
