"""KRM functions: what kpt and kustomize start, with a ResourceList on standard input, and another one expected back."""
