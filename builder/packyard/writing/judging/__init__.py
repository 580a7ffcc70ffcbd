"""What programs from outside say of a source package: kustomize, a shell that types its README, an API server."""
