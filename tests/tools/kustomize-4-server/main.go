// Command kustomize-4-server runs many commands of the pinned kustomize in one process, which reads the schemas of
// Kubernetes only once.
package main

import "sigs.k8s.io/kustomize/kustomize/v4/commands"

func main() { serve(commands.NewDefaultCommand) }
