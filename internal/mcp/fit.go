package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	maxNested   = 3  // times that a value may be encoded as JSON in a text
	maxSentShow = 80 // characters of an argument that an error repeats
)

// errNotObject is the answer to arguments that have no names.
var errNotObject = errors.New(`the arguments must be a JSON object, such as {"name": "value"}`)

// arguments returns the arguments of a call in the types of the tool's schema, with
// defaults for what is left out.
func arguments(data json.RawMessage, schema *jsonschema.Resolved) (json.RawMessage, error) {
	sent, err := members(data)
	if err != nil {
		return nil, err
	}
	args, err := fit(sent, schema.Schema())
	if err != nil {
		return nil, err
	}
	var all any = args
	if err := schema.ApplyDefaults(&all); err != nil {
		return nil, fmt.Errorf("fill in the arguments: %w", err)
	}
	if err := schema.Validate(all); err != nil { // what fit does not know of schemas
		return nil, fmt.Errorf("check the arguments: %w", err)
	}
	return json.Marshal(all)
}

// members decodes the arguments of a call. Some clients send the object as JSON text, and
// an empty list where there are none.
func members(data json.RawMessage) (map[string]any, error) {
	if len(data) == 0 {
		return nil, nil
	}
	v, ok := decode(string(data))
	if !ok {
		return nil, errNotObject
	}
	for range maxNested {
		text, is := v.(string)
		if !is {
			break
		}
		if v, ok = decode(text); !ok {
			return nil, errNotObject
		}
	}
	switch v := v.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return v, nil
	case []any:
		if len(v) == 0 {
			return nil, nil
		}
	}
	return nil, errNotObject
}

// decode reads a text that is one JSON value. Numbers stay as they are written.
func decode(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	return v, true
}

// fit converts arguments to the types of a schema. Models and their clients send numbers,
// booleans and lists as text, one text for a list of one, and text as a number. A null
// means the same as nothing, and so does an empty text where the schema wants anything
// but text. Whatever could mean two things is refused.
func fit(sent map[string]any, s *jsonschema.Schema) (map[string]any, error) {
	args := make(map[string]any, len(sent))
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		p := s.Properties[name]
		if p == nil {
			return nil, fmt.Errorf("there is no argument %s; %s", strconv.Quote(clip(name, maxSentShow, "…")), known(s))
		}
		v, ok := convert(sent[name], p, maxNested)
		if !ok {
			return nil, fmt.Errorf("%s is %s; expected %s", name, shown(sent[name]), expected(p))
		}
		if v != nil {
			args[name] = v
		}
	}
	for _, name := range s.Required {
		if _, ok := args[name]; !ok {
			return nil, fmt.Errorf("%s is missing; expected %s", name, expected(s.Properties[name]))
		}
	}
	return args, nil
}

// convert returns a value in the type of a schema, nil for one that says nothing. ok is
// false if its meaning is not clear.
func convert(v any, s *jsonschema.Schema, nested int) (converted any, ok bool) {
	if v == nil {
		return nil, true
	}
	switch {
	case s.Type == "array":
		return convertList(v, s, nested)
	case s.Type == "object":
		return convertItem(v, s, nested)
	case s.Type == "string" && len(s.Enum) == 0:
		return plainText(v)
	case s.Type == "string":
		text, ok := plainText(v)
		if !ok {
			return nil, false
		}
		return member(text, s.Enum)
	}
	if list, is := v.([]any); is {
		if len(list) != 1 || nested == 0 {
			return nil, false
		}
		return convert(list[0], s, nested-1)
	}
	if text, is := v.(string); is {
		if text = strings.TrimSpace(text); text == "" {
			return nil, true
		}
		inner, is := decode(text)
		if !is && s.Type == "boolean" { // True, as Python writes it
			inner, is = decode(strings.ToLower(text))
		}
		if !is || nested == 0 {
			return nil, false
		}
		return convert(inner, s, nested-1)
	}
	switch s.Type {
	case "boolean":
		v, ok := v.(bool)
		return v, ok
	case "integer", "number":
		n, is := v.(json.Number)
		if !is {
			return nil, false
		}
		return number(n, s.Type == "integer")
	}
	return nil, false // unreachable: tools have no other types, and a test says so
}

// convertItem converts an item of a list to an object. What it has besides, or in no form that fits, is left out: the tool
// judges each item, and one that is wrong costs no other.
func convertItem(v any, s *jsonschema.Schema, nested int) (converted any, ok bool) {
	if text, is := v.(string); is && nested > 0 {
		if inner, is := decode(text); is {
			return convertItem(inner, s, nested-1)
		}
	}
	item := make(map[string]any)
	sent, _ := v.(map[string]any)
	for name, p := range s.Properties {
		if one, ok := convert(sent[name], p, nested); ok && one != nil {
			item[name] = one
		}
	}
	return item, true
}

// convertList converts a value to a list.
func convertList(v any, s *jsonschema.Schema, nested int) (converted any, ok bool) {
	switch v := v.(type) {
	case []any:
		if inner := listWithin(v); inner != nil {
			if nested == 0 {
				return nil, false
			}
			return convertList(inner, s, nested-1)
		}
		all := make([]any, 0, len(v))
		for _, item := range v {
			one, ok := convert(item, s.Items, nested)
			if !ok || one == nil {
				return nil, false
			}
			all = append(all, one)
		}
		return all, true
	case string:
		text := strings.TrimSpace(v)
		if text == "" {
			return nil, true
		}
		inner, is := decode(text)
		switch inner := inner.(type) {
		case nil:
			if is {
				return nil, true
			}
		case []any, string:
			if nested == 0 {
				return nil, false
			}
			return convertList(inner, s, nested-1)
		}
		if strings.ContainsAny(text, ",;\n\r") || strings.ContainsAny(text[:1], `[{"'`) {
			return nil, false // one text, or several
		}
		return convertList([]any{text}, s, 0)
	case map[string]any:
		if s.Items.Type != "object" {
			return nil, false
		}
	}
	return convertList([]any{v}, s, 0)
}

// listWithin returns the list that the only item of a list encodes as text, nil if it encodes none.
func listWithin(list []any) []any {
	if len(list) != 1 {
		return nil
	}
	text, _ := list[0].(string)
	inner, _ := decode(text)
	within, _ := inner.([]any)
	return within
}

// plainText converts a value to text.
func plainText(v any) (converted any, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	case []any:
		if len(v) == 1 {
			if _, list := v[0].([]any); !list {
				return plainText(v[0])
			}
		}
	}
	return nil, false
}

// member returns the value of a closed set that a text names.
func member(v any, set []any) (converted any, ok bool) {
	text, is := v.(string)
	if !is {
		return nil, false // unreachable: plainText returns text
	}
	if slices.Contains(set, v) {
		return v, true
	}
	if inner, is := decode(text); is {
		switch inner := inner.(type) {
		case nil:
			return nil, true
		case string:
			text = inner
		}
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil, true
	}
	for _, one := range set {
		if name, is := one.(string); is && strings.EqualFold(name, text) {
			return one, true
		}
	}
	return nil, false
}

// number returns a number that is not written as one that takes long to work out.
func number(n json.Number, whole bool) (converted any, ok bool) {
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return i, true
	}
	f, err := n.Float64()
	if err != nil || whole && f != math.Trunc(f) {
		return nil, false
	}
	return f, true
}

// expected says in words what a schema wants.
func expected(s *jsonschema.Schema) string {
	switch {
	case len(s.Enum) > 0:
		names := make([]string, 0, len(s.Enum))
		for _, v := range s.Enum {
			names = append(names, fmt.Sprint(v))
		}
		return "one of " + strings.Join(names, ", ")
	case s.Type == "array":
		return `a list, such as ["a", "b"]`
	case s.Type == "integer" && s.Default != nil:
		return "a whole number, such as " + string(s.Default)
	case s.Type == "integer":
		return "a whole number"
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "string":
		return "text"
	}
	return "a " + s.Type
}

// known names the arguments of a tool.
func known(s *jsonschema.Schema) string {
	if len(s.Properties) == 0 {
		return "the tool takes none"
	}
	return "the tool takes " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
}

// shown is an argument as it was sent, shortened.
func shown(v any) string {
	data, err := compact(v)
	if err != nil {
		return "unreadable" // unreachable: it was decoded from JSON
	}
	return clip(string(bytes.ToValidUTF8(data, []byte("\uFFFD"))), maxSentShow, "…")
}
