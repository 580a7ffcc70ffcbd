"""The catalogue's use cases as a user applies them: everything required is set to its example.

Nobody on this machine is the user, nor any of the groups: all that the processes know of them has to come from the pod.
"""

import base64
from collections.abc import Sequence

from catalogue.usecases import PACKAGES, Directory, needed, shipped
from packyard.writing.source.package import Package, UseCase
from real import Kustomize
from workload.controllers import NAMESPACE
from workload.environment import Object

USE_CASES = {f"{item.name}/{each.path}": (item, each) for item in PACKAGES for each in item.use_cases}

#: Variables of a user's own; the second is a parameter of Open MPI.
ENVIRONMENT = {"GREETING": "good 'morning', $HOME \"all\"\n to you", "OMPI_MCA_mpi_yield_when_idle": "1"}

USER, GROUP, FS_GROUP = 41234, 42345, 43456

#: Beside the examples: who runs, and no more processes than this machine bears.
_SETTINGS = {"USER_ID": USER, "GROUP_ID": GROUP, "FS_ID": FS_GROUP, "USER_NAME": "nobody-here", "GPUS": 2}
_SETTINGS["TENSOR_PARALLEL_SIZE"] = 2


def set_objects(package: Package, use_case: UseCase, **values: object) -> list[Object]:
    """Return the objects of a use case after a user set what is required, and ``values``."""
    return with_made(set_directory(package, use_case, **values).parse())


def with_options(kustomize: Kustomize, directory: Directory, options: Sequence[str], **values: str) -> list[Object]:
    """Return the objects of a directory to which a user added options by kustomize, with these of their values."""
    return with_made((directory.set_options(values) if values else directory).build(kustomize, NAMESPACE, options))


def set_directory(package: Package, use_case: UseCase, **values: object) -> Directory:
    """Return a use case in which a user set what is required, and ``values``."""
    directory = shipped(package, use_case)
    chosen = {**directory.examples, **_SETTINGS, **values}
    return directory.set({name: str(value) for name, value in chosen.items() if name in directory.setters})


def with_made(objects: list[Object]) -> list[Object]:
    """Add the Secrets and ConfigMaps that the pods need and a user makes, each with the same keys."""
    keys = ("aws_access_key_id", "aws_secret_access_key", "hash", "htpasswd", "key")
    keys += ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    data = {key: base64.b64encode(key.encode()).decode() for key in keys}
    brought = [item["metadata"]["name"] for item in objects if item["kind"] == "ConfigMap"]
    made = [("Secret", name, data) for name in needed(objects, "Secret")]
    made += [("Secret", "bucket-credentials", data)]
    made += [("ConfigMap", name, ENVIRONMENT) for name in needed(objects, "ConfigMap")]
    return objects + [
        {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": values}
        for kind, name, values in made
        if kind == "Secret" or name not in brought
    ]
