// Command cel answers expressions as the Kubernetes API server does, by its own CEL libraries.
//
// Each line of the input is {"expression": …, "types": {NAME: int|double|bool|string}, "values": {NAME: …}}; each line of
// the output is {"value": …} or {"error": …}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/library"
)

type question struct {
	Expression string                     `json:"expression"`
	Types      map[string]string          `json:"types"`
	Values     map[string]json.RawMessage `json:"values"`
}

var types = map[string]*cel.Type{
	"int": cel.IntType, "double": cel.DoubleType, "bool": cel.BoolType, "string": cel.StringType,
}

func main() {
	base, err := cel.NewEnv(cel.CrossTypeNumericComparisons(true), library.Quantity(), ext.Strings())
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		value, err := answer(base, asked)
		if err != nil {
			_ = out.Encode(map[string]any{"error": err.Error()})
			continue
		}
		_ = out.Encode(map[string]any{"value": value})
	}
}

func answer(base *cel.Env, asked question) (any, error) {
	options := []cel.EnvOption{}
	values := map[string]any{}
	for name, kind := range asked.Types {
		options = append(options, cel.Variable(name, types[kind]))
		value, err := read(kind, asked.Values[name])
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	env, err := base.Extend(options...)
	if err != nil {
		return nil, err
	}
	checked, issues := env.Compile(asked.Expression)
	if issues.Err() != nil {
		return nil, fmt.Errorf("compile: %w", issues.Err())
	}
	program, err := env.Program(checked)
	if err != nil {
		return nil, err
	}
	found, _, err := program.Eval(values)
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	return found.Value(), nil
}

func read(kind string, raw json.RawMessage) (value any, err error) {
	switch kind {
	case "int":
		var number int64
		err = json.Unmarshal(raw, &number)
		return number, err
	case "double":
		var number float64
		err = json.Unmarshal(raw, &number)
		return number, err
	case "bool":
		var truth bool
		err = json.Unmarshal(raw, &truth)
		return truth, err
	}
	var text string
	err = json.Unmarshal(raw, &text)
	return text, err
}
