"""The catalogue's use cases as a user applies them: everything required is set to its example.

Nobody on this machine is the user, nor any of the groups: all that the processes know of them has to come from the pod.
"""

from __future__ import annotations

import base64
import grp
import pwd
from collections.abc import Callable, Mapping, Sequence

from catalogue.usecases import Directory, shipped
from packyard.core.kubernetes import requirements
from packyard.writing.source.package import Package, UseCase
from real import Served
from workload.controllers import NAMESPACE
from workload.objects import Object

#: Variables of a user's own; the second is a parameter of Open MPI.
ENVIRONMENT = {
    "GREETING": "good 'morning', $HOME \"all\"\n to you",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def _unknown(known: Callable[[int], object], first: int) -> int:
    """Return the first number from ``first`` that nobody here has."""
    try:
        known(first)
    except KeyError:
        return first
    return _unknown(known, first + 1)


USER = _unknown(pwd.getpwuid, 41234)
GROUP = _unknown(grp.getgrgid, 42345)
FS_GROUP = _unknown(grp.getgrgid, 43456)

#: Beside the examples: who runs, and no more processes than this machine bears.
_SETTINGS = {"USER_ID": USER, "GROUP_ID": GROUP, "FS_ID": FS_GROUP, "USER_NAME": "nobody-here", "GPUS": 2}
_SETTINGS["TENSOR_PARALLEL_SIZE"] = 2

#: Other values than those shipped for what names a path, a port or an object.
_OTHERS = {
    "BERT_BASE_DIR": "bert/large",
    "CHECKPOINT_DIR": "tmp/checkpoints",
    "DATASET_DIR": "/datasets/of/mine",
    "GLUE_DIR": "glue",
    "GROUP_NAME": "team",
    "MODEL_BASE_PATH": "/models/of/mine",
    "MODEL_NAME": "mine",
    "MODEL_PATH": "/models/of/mine",
    "MODEL_PORT": "9000",
    "NODE_PATH": "/var/lib/data",
    "OUTPUT_DIR": "results/final",
    "PORT": "9002",
    "PVC_PATH": "/mnt/disk",
    "RUN_NAME": "second",
    "TF_SERVING_PORT": "9001",
}


def set_objects(package: Package, use_case: UseCase, **values: object) -> list[Object]:
    """Return the objects of a use case after a user set what is required, and ``values``."""
    return with_made(_set(package, use_case, values).parse())


def with_made(objects: list[Object]) -> list[Object]:
    """Add the Secrets and ConfigMaps that the pods need and a user makes, and the Secret of a bucket.

    Every one has the same keys.
    """
    needed = requirements.find(objects)
    keys = ("aws_access_key_id", "aws_secret_access_key", "hash", "htpasswd")
    keys += ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "key")
    data = {key: base64.b64encode(key.encode()).decode() for key in keys}
    secrets = [item.name for item in needed if item.kind == "Secret"] + ["bucket-credentials"]
    brought = [item["metadata"]["name"] for item in objects if item["kind"] == "ConfigMap"]
    maps = [item.name for item in needed if item.kind == "ConfigMap" and item.name not in brought]
    made = [("Secret", name, data) for name in secrets] + [("ConfigMap", name, ENVIRONMENT) for name in maps]
    return objects + [
        {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": data} for kind, name, data in made
    ]


def with_others(package: Package, use_case: UseCase) -> list[Object]:
    """Return the objects of a use case in which a user set every path, port and name to one of theirs."""
    return set_objects(package, use_case, **_OTHERS)


def with_option(kustomize: Served, package: Package, use_case: UseCase, option: str, **values: str) -> list[Object]:
    """Return the objects of a use case to which a user added an option by kustomize, with these of its values."""
    return with_options(kustomize, _set(package, use_case, {}), [option], **values)


def with_options(kustomize: Served, directory: Directory, options: Sequence[str], **values: str) -> list[Object]:
    """Return the objects of a directory to which a user added options, with these of their values."""
    return with_made((directory.set_options(values) if values else directory).build(kustomize, NAMESPACE, options))


def set_directory(package: Package, use_case: UseCase, **values: object) -> Directory:
    """Return a use case in which a user set what is required, and ``values``."""
    return _set(package, use_case, values)


def _set(package: Package, use_case: UseCase, values: Mapping[str, object]) -> Directory:
    directory = shipped(package, use_case)
    chosen = {**directory.examples, **_SETTINGS, **values}
    return directory.set({name: str(value) for name, value in chosen.items() if name in directory.setters})
