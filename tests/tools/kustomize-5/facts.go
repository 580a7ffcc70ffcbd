//go:build ignore

// Command facts prints what the pinned kustomize knows, as JSON: `go run facts.go schema` the OpenAPI document of
// Kubernetes by which it merges, `go run facts.go fields` each field that a kustomization may have, with its Go type.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

func main() {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	encoder.SetEscapeHTML(false)
	var facts any
	if os.Args[1] == "schema" {
		openapi.SchemaForResourceType(yaml.TypeMeta{APIVersion: "v1", Kind: "Pod"})
		facts = openapi.Schema()
	} else {
		found := map[string]string{}
		fields("", reflect.TypeFor[types.Kustomization](), found)
		facts = found
	}
	if err := encoder.Encode(facts); err != nil {
		panic(err)
	}
}

// fields adds those of a struct, and of the structs in it: configMapGenerator[].options.labels.
func fields(path string, of reflect.Type, found map[string]string) {
	for index := range of.NumField() {
		field := of.Field(index)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		kind, place := field.Type, path+name
		if field.Anonymous && name == "" {
			fields(path, kind, found)
			continue
		}
		if name == "-" || !field.IsExported() {
			continue
		}
		for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice {
			if kind.Kind() == reflect.Slice {
				place += "[]"
			}
			kind = kind.Elem()
		}
		if kind.Kind() == reflect.Struct {
			fields(place+".", kind, found)
		} else {
			found[place] = kind.String()
		}
	}
}
