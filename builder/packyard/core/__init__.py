"""What every house stands on: bytes, YAML, what Kubernetes kinds are, the format of a bundle."""
