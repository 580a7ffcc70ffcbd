// Command kustomize-3-server runs many commands of the pinned kustomize in one process, which reads the schemas of
// Kubernetes only once.
package main

import "sigs.k8s.io/kustomize/kustomize/v3/internal/commands"

func main() { serve(commands.NewDefaultCommand) }
