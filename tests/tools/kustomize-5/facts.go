//go:build ignore

// Command facts prints what the pinned kustomize knows, as JSON: `go run facts.go` the OpenAPI document of Kubernetes by
// which it merges.
package main

import (
	"encoding/json"
	"os"

	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

func main() {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	encoder.SetEscapeHTML(false)
	openapi.SchemaForResourceType(yaml.TypeMeta{APIVersion: "v1", Kind: "Pod"})
	if err := encoder.Encode(openapi.Schema()); err != nil {
		panic(err)
	}
}
