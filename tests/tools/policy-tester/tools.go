//go:build tools

// Package tools names the program that this module pins; go.mod says which version.
package tools

import _ "github.com/sigstore/policy-controller/cmd/tester"
