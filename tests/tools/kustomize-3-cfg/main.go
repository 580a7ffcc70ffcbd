// Command kustomize-3-cfg runs many cfg commands of kustomize 3.8.7 in one process.
//
// A process of kustomize is busy for half a second with the schemas of Kubernetes before it sets its first value. This
// one reads them once.
// Each line of the input is {"directory": …, "arguments": […]}; each line of the output is {"code": …, "stdout": …,
// "stderr": …}.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/kustomize/cmd/config/configcobra"
)

type command struct {
	Directory string   `json:"directory"`
	Arguments []string `json:"arguments"`
}

type result struct {
	Code   int    `json:"code"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked command
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		if err := os.Chdir(asked.Directory); err != nil {
			panic(err)
		}
		if err := out.Encode(run(asked.Arguments)); err != nil {
			panic(err)
		}
	}
}

// run answers as a process does: 1 for an error, and 2, Go's code, for a panic.
func run(arguments []string) (ended result) {
	var stdout, stderr bytes.Buffer
	defer func() {
		if trouble := recover(); trouble != nil {
			ended.Code = 2
			fmt.Fprintf(&stderr, "panic: %v\n", trouble)
		}
		ended.Stdout, ended.Stderr = stdout.String(), stderr.String()
	}()
	cfg := configcobra.GetCfg("kustomize")
	cfg.SetArgs(arguments)
	cfg.SetOut(&stdout)
	cfg.SetErr(&stderr)
	cfg.SilenceErrors, cfg.SilenceUsage = true, true
	if err := cfg.Execute(); err != nil {
		ended.Code = 1
		fmt.Fprintf(&stderr, "Error: %v\n", err)
	}
	return ended
}
