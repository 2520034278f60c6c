package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FileName is the settings file in the store's folder. It never travels.
const FileName = "config.json"

func (c *Config) file() string { return filepath.Join(c.Home, FileName) }

// readFile returns the values of config.json by dotted key. A file that cannot
// be read is a warning; what it holds is not used and never overwritten.
func (c *Config) readFile() map[string]string {
	if c.Home == "" {
		return nil
	}
	data, err := os.ReadFile(c.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var tree map[string]any
	if err == nil && len(bytes.TrimSpace(data)) > 0 {
		tree, err = decode(data)
	}
	if err != nil {
		c.invalid = fmt.Errorf("read %s: %w; mend it or move it away", c.file(), err)
		c.warn("%v; going on without it", c.invalid)
		return nil
	}
	flat := make(map[string]string)
	flatten("", tree, flat)
	for key, value := range flat {
		if key == "home" || c.find(key) == nil || c.find(key).Key != key {
			c.unknown[key] = value
			delete(flat, key)
		} else if value == "" && c.find(key).quoted {
			delete(flat, key) // an empty text is not set
		}
	}
	return flat
}

func decode(data []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	dec.UseNumber()
	var tree map[string]any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("it is not a JSON object: %w", err)
	}
	if tree == nil {
		return nil, errors.New("it is not a JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something behind the JSON object")
	}
	return tree, nil
}

// flatten writes the leaves of a tree under dotted keys.
func flatten(prefix string, tree map[string]any, into map[string]string) {
	for key, value := range tree {
		switch v := value.(type) {
		case map[string]any:
			flatten(prefix+key+".", v, into)
		case string:
			into[prefix+key] = v
		case nil:
		default:
			into[prefix+key] = fmt.Sprint(v)
		}
	}
}

// A Change is one value to write; a nil value removes the key.
type Change struct {
	Key   string
	Value *string
}

// Edit returns the bytes of config.json with changes applied. Every change is
// checked before any is made; one that would send a key to another host than it
// was set for is an error. Keys that this version does not know stay.
func (c *Config) Edit(changes []Change) ([]byte, error) {
	if c.invalid != nil {
		return nil, c.invalid
	}
	tree := map[string]any{}
	data, err := os.ReadFile(c.file())
	if err == nil && len(bytes.TrimSpace(data)) > 0 {
		tree, err = decode(data)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %w", c.file(), err)
	}
	before, after := make(map[string]string), make(map[string]string)
	flatten("", tree, before)
	for _, ch := range changes {
		value, err := c.check(ch)
		if err != nil {
			return nil, err
		}
		put(tree, strings.Split(ch.Key, "."), value)
	}
	flatten("", tree, after)
	if err := c.stayWithHost(before, after); err != nil {
		return nil, err
	}
	out, err := json.MarshalIndent(tree, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}

// ErrUnknown says that there is no such setting.
var ErrUnknown = errors.New("unknown setting")

// check returns the JSON value of a change, or why it cannot be made. It tries
// the value on its own configuration.
func (c *Config) check(ch Change) (any, error) {
	s := (&Config{}).find(ch.Key)
	if ch.Value == nil {
		if _, left := c.unknown[ch.Key]; s == nil && !left {
			return nil, fmt.Errorf("%w '%s'", ErrUnknown, ch.Key)
		}
		return nil, nil
	}
	if s == nil || s.Key != ch.Key {
		return nil, fmt.Errorf("%w '%s'", ErrUnknown, ch.Key)
	}
	if s.Key == "home" {
		return nil, errors.New("home cannot be set in the file that stands in it; set ANAMNESIS_HOME")
	}
	if err := s.set(*ch.Value); err != nil {
		return nil, fmt.Errorf("%s: %w", ch.Key, err)
	}
	switch {
	case s.quoted:
		return s.get(), nil
	default:
		return json.RawMessage(s.get()), nil
	}
}

// put sets a leaf, or removes it and the objects that become empty.
func put(tree map[string]any, path []string, value any) {
	if len(path) == 1 {
		if value == nil {
			delete(tree, path[0])
		} else {
			tree[path[0]] = value
		}
		return
	}
	child, ok := tree[path[0]].(map[string]any)
	if !ok {
		if value == nil {
			return
		}
		child = map[string]any{}
		tree[path[0]] = child
	}
	if put(child, path[1:], value); len(child) == 0 {
		delete(tree, path[0])
	}
}

// Invalid returns why config.json could not be read, or nil.
func (c *Config) Invalid() error { return c.invalid }

// A Value is a setting as it stands, and where its value came from.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source Source `json:"source"`
	Env    string `json:"env"`
	Def    string `json:"default"`
	Doc    string `json:"doc"`
	Who    string `json:"who"` // changes it, and when
	Values string `json:"values"`

	Words []string `json:"-"` // all that may be set, when these are few
}

// Values lists every setting, keys masked.
func (c *Config) Values() []Value {
	var all []Value
	for _, s := range c.rows() {
		all = append(all, Value{s.Key, s.shown(), c.SourceOf(s.Key), s.Env, s.Default, s.Doc, s.Who, s.Values, s.words})
	}
	return all
}

// Unknown lists the keys of config.json that have no effect, with their values
// masked where they look like secrets.
func (c *Config) Unknown() []Value {
	var all []Value
	for _, key := range slices.Sorted(maps.Keys(c.unknown)) {
		v := c.unknown[key]
		if low := strings.ToLower(key); strings.Contains(low, "key") || strings.Contains(low, "token") ||
			strings.Contains(low, "secret") || strings.Contains(low, "password") {
			v = Mask(v)
		}
		all = append(all, Value{Key: key, Value: v, Source: FromFile})
	}
	return all
}

// Mask shows enough of a key to recognise it and too little to use it.
func Mask(v string) string {
	switch {
	case v == "":
		return ""
	case len(v) <= 6:
		return "set"
	}
	return v[:3] + "..." + v[len(v)-2:]
}

// Get returns the value of a key.
func (c *Config) Get(key string) (Value, error) {
	for _, v := range c.Values() {
		if v.Key == key || v.Env == key {
			return v, nil
		}
	}
	return Value{}, fmt.Errorf("%w '%s'", ErrUnknown, key)
}

func (c *Config) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}
