//go:build tools

// Package tools names the program that this module pins; go.mod says which version.
package tools

import _ "github.com/argoproj/argo-workflows/v3/cmd/workflow-controller"
