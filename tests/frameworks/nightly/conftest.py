"""The node of tests/workload, whose containers have TensorFlow itself."""

from workload.nightly.conftest import namespaces, new_machine

__all__ = ["namespaces", "new_machine"]
