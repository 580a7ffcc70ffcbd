"""What programs from outside say of a source package: kustomize, and an API server."""
