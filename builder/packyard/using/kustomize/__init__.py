"""What kustomize makes of a kustomization: one builder, for composing and for rendering."""
