package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// A wire is a protocol besides that of Anthropic: how a conversation is read from a
// request, and how a turn is sent.
type wire struct {
	read func(body []byte) (conversation []message, tools bool)
	send func(w http.ResponseWriter, stream bool, n int, a scriptedTurn)
}

// wireOf returns the protocol of an address, nil for none of them.
func wireOf(path string) *wire {
	switch {
	case strings.HasSuffix(path, "/responses"):
		return &wire{readResponses, sendResponses}
	case strings.HasSuffix(path, "/chat/completions"):
		return &wire{readChat, sendChat}
	case strings.Contains(path, "enerateContent"):
		return &wire{readContents, sendContents}
	}
	return nil
}

// answer answers in the protocol of the request.
func (s *Scripted) answer(w http.ResponseWriter, r *http.Request, body []byte, n int) {
	p := wireOf(r.URL.Path)
	conversation, tools := p.read(body)
	a := decide(conversation, tools)
	var asked struct {
		Stream bool `json:"stream"`
	}
	_ = json.Unmarshal(body, &asked)
	switch {
	case a.hang:
		<-s.stop
	case a.status != 0:
		respond(w, a.status, map[string]any{"error": map[string]any{"code": a.status, "message": "scripted", "type": "invalid_request_error"}})
	default:
		p.send(w, asked.Stream || strings.Contains(r.URL.Path, "stream"), n, a)
	}
}

// said makes a message of texts and results of tools.
func said(role string, texts []string, results int) message {
	var blocks []block
	for _, t := range texts {
		blocks = append(blocks, block{"text", t})
	}
	for range results {
		blocks = append(blocks, block{"tool_result", ""})
	}
	data, _ := json.Marshal(blocks)
	return message{role, data}
}

// texts reads a content that is a text or a list of parts with texts.
func texts(content json.RawMessage) (all []string) {
	var one string
	if json.Unmarshal(content, &one) == nil {
		return []string{one}
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(content, &parts)
	for _, p := range parts {
		if p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return all
}

// events sends server-sent events; each is a name, "" for none, and its data.
func events(w http.ResponseWriter, all ...[2]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range all {
		if e[0] != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", e[0])
		}
		data, ok := e[1].(string)
		if !ok {
			raw, _ := json.Marshal(e[1])
			data = string(raw)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
}

// readResponses reads a request of OpenAI's Responses API.
func readResponses(body []byte) (all []message, tools bool) {
	var req struct {
		Tools []json.RawMessage `json:"tools"`
		Input []struct {
			Type, Role string
			Content    json.RawMessage
		} `json:"input"`
	}
	_ = json.Unmarshal(body, &req)
	for _, it := range req.Input {
		switch {
		case strings.HasSuffix(it.Type, "_output"):
			all = append(all, said("user", nil, 1))
		case it.Role != "":
			all = append(all, said(it.Role, texts(it.Content), 0))
		}
	}
	return all, len(req.Tools) > 0
}

// sendResponses answers it. A tool is named NAMESPACE/NAME where it stands in one.
func sendResponses(w http.ResponseWriter, stream bool, n int, a scriptedTurn) {
	item := map[string]any{
		"type": "message", "id": fmt.Sprintf("msg_%06d", n), "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": a.text, "annotations": []any{}}},
	}
	if a.tool != "" {
		item = map[string]any{
			"type": "function_call", "id": fmt.Sprintf("fc_%06d", n), "call_id": fmt.Sprintf("call_%06d", n), "name": a.tool,
			"arguments": string(a.input),
		}
		if space, name, ok := strings.Cut(a.tool, "/"); ok {
			item["namespace"], item["name"] = space, name
		}
		var free struct{ Input *string }
		if a.tool == "apply_patch" && json.Unmarshal(a.input, &free) == nil && free.Input != nil {
			item["type"], item["input"] = "custom_tool_call", *free.Input
			delete(item, "arguments")
		}
	}
	id := fmt.Sprintf("resp_%06d", n)
	whole := map[string]any{
		"id": id, "object": "response", "status": "completed", "model": "scripted", "output": []any{item}, "created_at": 1,
		"usage": map[string]any{
			"input_tokens": 10, "input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens": 5,
			"output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": 15,
		},
	}
	if !stream {
		respond(w, http.StatusOK, whole)
		return
	}
	begun := map[string]any{"id": id, "object": "response", "status": "in_progress", "model": "scripted", "output": []any{}, "created_at": 1}
	events(
		w,
		[2]any{"response.created", map[string]any{"type": "response.created", "sequence_number": 0, "response": begun}},
		[2]any{"response.output_item.done", map[string]any{
			"type": "response.output_item.done", "sequence_number": 1, "output_index": 0, "item": item,
		}},
		[2]any{"response.completed", map[string]any{"type": "response.completed", "sequence_number": 2, "response": whole}},
	)
}

// readChat reads a request of the Chat Completions API.
func readChat(body []byte) (all []message, tools bool) {
	var req struct {
		Tools    []json.RawMessage `json:"tools"`
		Messages []message         `json:"messages"`
	}
	_ = json.Unmarshal(body, &req)
	for _, m := range req.Messages {
		if m.Role == "tool" {
			all = append(all, said("user", nil, 1))
		} else {
			all = append(all, said(m.Role, texts(m.Content), 0))
		}
	}
	return all, len(req.Tools) > 0
}

// sendChat answers it.
func sendChat(w http.ResponseWriter, stream bool, n int, a scriptedTurn) {
	usage := map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	said, why := map[string]any{"role": "assistant", "content": a.text}, "stop"
	if a.tool != "" {
		said, why = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
			"index": 0, "id": fmt.Sprintf("call_%06d", n), "type": "function",
			"function": map[string]any{"name": a.tool, "arguments": string(a.input)},
		}}}, "tool_calls"
	}
	whole := func(kind, member string, said any, why any) map[string]any {
		return map[string]any{
			"id": fmt.Sprintf("chatcmpl-%06d", n), "created": 1, "model": "scripted", "object": kind, "usage": usage,
			"choices": []any{map[string]any{"index": 0, member: said, "finish_reason": why}},
		}
	}
	if !stream {
		respond(w, http.StatusOK, whole("chat.completion", "message", said, why))
		return
	}
	const chunk = "chat.completion.chunk"
	events(w, [2]any{"", whole(chunk, "delta", said, nil)}, [2]any{"", whole(chunk, "delta", map[string]any{}, why)}, [2]any{"", "[DONE]"})
}

// readContents reads a request of Gemini's API.
func readContents(body []byte) (all []message, tools bool) {
	var req struct {
		Tools    []json.RawMessage `json:"tools"`
		Contents []struct {
			Role  string
			Parts []struct {
				Text             string
				FunctionResponse json.RawMessage
			}
		}
	}
	_ = json.Unmarshal(body, &req)
	for _, c := range req.Contents {
		var texts []string
		results := 0
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				results++
			} else if p.Text != "" && results == 0 { // a text behind a result is the agent's own
				texts = append(texts, p.Text)
			}
		}
		all = append(all, said(c.Role, texts, results))
	}
	return all, len(req.Tools) > 0
}

// sendContents answers it.
func sendContents(w http.ResponseWriter, stream bool, _ int, a scriptedTurn) {
	part := map[string]any{"text": a.text}
	if a.tool != "" {
		part = map[string]any{"functionCall": map[string]any{"name": a.tool, "args": a.input}}
	}
	whole := map[string]any{
		"candidates": []any{map[string]any{
			"content": map[string]any{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0,
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
		"modelVersion":  "scripted",
	}
	if stream {
		events(w, [2]any{"", whole})
	} else {
		respond(w, http.StatusOK, whole)
	}
}
