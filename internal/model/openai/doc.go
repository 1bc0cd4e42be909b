// Package openai asks a model behind an OpenAI-compatible server: Chat
// Completions with a strict JSON Schema as response_format, or the Responses
// API. It sends only fields that OpenAI, vLLM, llama.cpp, Ollama, SGLang,
// LM Studio and OpenRouter all take; see dialect.go for the few that differ, and
// [Options.Extra] for those that one server has alone.
//
// # What is tolerated
//
// White space, a ``` fence, prose or a <think> block around the JSON; JSON in
// reasoning_content or reasoning while content is empty; JSON as text/plain;
// errors in a body with status 200; a cut at the output limit after the JSON was
// complete. Whether the JSON is a valid reply is for the session to say.
//
// # White space without end
//
// Under a grammar that allows white space between tokens, small models can
// write it until their limit. Streams are watched: after [maxBlank] characters
// of white space outside strings the call is cancelled, which ends the
// generation on the server. Answers that are not streamed are bounded by
// [Options.MaxOutput] and [Options.Timeout] only. So the default is to stream,
// but from OpenAI's own servers, which bound white space themselves and refuse
// streams to accounts that are not verified.
//
// # What ends a call
//
// The context, at once; [Options.Timeout] for the whole of it, retries included;
// [Options.Idle] for silence within an answer; [Options.MaxBytes] for its size.
// The SDK repeats what failed on the way or with 408, 409, 429 or 5xx, and keeps
// to Retry-After; where that is more than the call has time for, it ends now.
// When calls fail in a row, a circuit breaker fails the next ones at once; after
// a pause one call at a time is let through to see whether the server is back.
package openai
