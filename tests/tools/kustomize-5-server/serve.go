package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/cmd/config/configcobra"
)

type command struct {
	Directory string   `json:"directory"`
	Arguments []string `json:"arguments"`
}

// serve runs a command for each line of the input, {"directory": …, "arguments": […]}, and writes its exit code in a
// line. What a command prints is in the two files that the command line names. Where a command ends this process,
// the process's exit code is the answer.
func serve(newCommand func() *cobra.Command) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	answers := os.Stdout
	os.Stdout, os.Stderr = open(os.Args[1]), open(os.Args[2])
	log.SetOutput(os.Stderr)
	for lines.Scan() {
		var asked command
		check(json.Unmarshal(lines.Bytes(), &asked))
		check(os.Chdir(asked.Directory))
		check(os.Stdout.Truncate(0))
		check(os.Stderr.Truncate(0))
		fmt.Fprintln(answers, run(newCommand(), asked.Arguments))
	}
}

// run returns the exit code of a process: 1 for an error, and 2, Go's code, for a panic.
func run(root *cobra.Command, arguments []string) (code int) {
	defer func() {
		if trouble := recover(); trouble != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n", trouble)
			code = 2
		}
	}()
	// Commands of cfg end the process at an error, and print no usage then. Here they end it only where they do so
	// without an error as well: a list of nothing.
	*configcobra.ExitOnError = slices.Contains(arguments, "list-setters")
	silenceUsage(root, "cfg")
	root.SetArgs(arguments)
	if root.Execute() != nil {
		return 1
	}
	return 0
}

// silenceUsage lets the commands below one of these names, once they run, print no usage.
func silenceUsage(parent *cobra.Command, names ...string) {
	for _, each := range parent.Commands() {
		if len(names) > 0 && !slices.Contains(names, each.Name()) {
			continue
		}
		if runE := each.RunE; runE != nil {
			each.RunE = func(c *cobra.Command, args []string) error {
				c.SilenceUsage = true
				return runE(c, args)
			}
		}
		silenceUsage(each)
	}
}

func open(name string) *os.File {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	check(err)
	return file
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
