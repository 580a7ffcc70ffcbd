"""Runs a program on CPUs as on GPUs that share the weights: accelerate has FSDP for accelerators alone."""

import os
import runpy
import sys
from pathlib import Path

from accelerate.state import DistributedType, PartialState

_start = PartialState.__init__


def start(self, *words, **given):
    _start(self, *words, **given)
    if os.environ["SHARDING"] == "fsdp" and self.distributed_type == DistributedType.MULTI_CPU:
        self.distributed_type = DistributedType.MULTI_XPU


PartialState.__init__ = start
sys.path.insert(0, str(Path(os.environ["PROGRAM"]).parent))
runpy.run_path(os.environ["PROGRAM"], run_name="__main__")
