"""The node of tests/workload, whose containers have the programs that models are tuned with."""

from workload.conftest import namespaces, new_cluster

__all__ = ["namespaces", "new_cluster"]
