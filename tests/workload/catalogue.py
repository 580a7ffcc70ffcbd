"""The catalogue's use cases as a user applies them: composed, and everything required set to its example.

Nobody on this machine is the user, nor any of the groups: all that the processes know of them has to come from the pod.
"""

from __future__ import annotations

import grp
import pwd
from collections.abc import Callable, Mapping
from typing import Any

import yaml

import real
from packyard.setters.plan import PackageFiles, plan, read_krmfile
from packyard.source import package as packages
from packyard.source import workspace
from packyard.source.compose import compose
from packyard.source.package import Package, UseCase
from workload.objects import Object

CATALOGUE = workspace.read(real.REPOSITORY)


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

#: Beside the examples: who runs, and two processes for each worker.
_SETTINGS = {"USER_ID": USER, "GROUP_ID": GROUP, "FS_ID": FS_GROUP, "USER_NAME": "nobody-here", "SLOTS_PER_WORKER": 2}


def use_cases() -> dict[str, tuple[Package, UseCase]]:
    """Return every use case of the catalogue by its package and path."""
    described = [packages.read(CATALOGUE, name) for name in CATALOGUE.package_names()]
    return {f"{package.name}/{each.path}": (package, each) for package in described for each in package.use_cases}


def set_objects(package: Package, use_case: UseCase, **values: object) -> list[Object]:
    """Return the objects of a use case after a user set what is required, and ``values``."""
    composed = compose(CATALOGUE, package, use_case).files
    files = PackageFiles(composed["Krmfile"], {path: data for path, data in composed.items() if path.endswith(".yaml")})
    setters = read_krmfile(files).definitions.setters
    examples = {name: setter.example or "" for name, setter in setters.items() if setter.must_be_set}
    chosen = {name: str(value) for name, value in {**_SETTINGS, **values}.items() if name in setters}
    planned = plan(files, {name: [text] for name, text in {**examples, **chosen}.items()})
    return parsed({**files.resources, **planned.files})


def parsed(files: Mapping[str, bytes]) -> list[Object]:
    """Return the objects in files, without the Krmfile and the kustomization."""
    resources = [data for path, data in sorted(files.items()) if path not in ("Krmfile", "kustomization.yaml")]
    documents: list[Any] = [document for data in resources for document in yaml.safe_load_all(data)]
    return [document for document in documents if document is not None]
