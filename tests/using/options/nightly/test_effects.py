"""Every option does what it says where it fits, alone and beside others, in kustomize 3.8.7, 4.5.4 and 5.7.1."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from packyard.using.kustomize.builtin import build as render
from real import REPOSITORY
from sample import some
from served import Served
from using.options.effects import effects
from using.options.shipped import DATASETS, Build, Catalogue, Object, Place, add, assert_refused, build_all

_BUCKET = REPOSITORY / "overlays/options/dataset-bucket/pods.yaml"


@cache
def _bucket() -> Object:
    found: Object = next(yaml.safe_load_all(_BUCKET.read_text()))["spec"]
    return found


def _expected(build: Build) -> list[Object]:
    does = effects(_bucket())
    objects = [json.loads(text) for text in build.place.objects]
    for name in build.options:
        does[name](objects)
    return [item for item in objects if item["kind"] != "Kustomization"]


def _sorted(objects: Iterable[Object]) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in objects)


def _judge(kustomize: Served, scratch: Path, builds: Sequence[Build]) -> None:
    wrong = []
    for build, objects in zip(builds, build_all(kustomize, scratch, builds), strict=True):
        if _sorted(objects) != _sorted(_expected(build)):
            wrong.append(str(build))
    assert not wrong


#: What excludes each other: devices of networks are for GPUs, which the option cpu takes away.
RIVALS = ({"amd", "gpu-claim"}, {"cpu", "efa"}, {"cpu", "rdma"})


def _pairs(place: Place) -> list[tuple[str, str]]:
    return list(combinations(place.options, 2))


def _exclude(pair: Sequence[str]) -> bool:
    return all(name in DATASETS for name in pair) or set(pair) in RIVALS


def _some(builds: Iterable[Build], kustomize: Served) -> list[Build]:
    """Return builds with each place and each choice of options, others for each kustomize."""
    return some(builds, lambda build: (str(build.place), build.options), of=kustomize.name)


def test_each_option_does_what_it_says_where_it_fits(kustomize: Served, catalogue: Catalogue, tmp_path: Path) -> None:
    builds = [Build(place, (name,)) for place in catalogue.shapes() for name in place.options]
    _judge(kustomize, tmp_path / "builds", _some(builds, kustomize))


def test_each_pair_of_options_does_what_both_say(kustomize: Served, catalogue: Catalogue, tmp_path: Path) -> None:
    builds = [Build(place, pair) for place in catalogue.shapes() for pair in _pairs(place) if not _exclude(pair)]
    _judge(kustomize, tmp_path / "builds", _some(builds, kustomize))


def test_all_options_at_once_do_what_they_say(kustomize: Served, catalogue: Catalogue, tmp_path: Path) -> None:
    builds = []
    for place in catalogue.shapes():
        for source in [each for each in DATASETS if each in place.options] or [""]:
            left_out = (*DATASETS, "amd", *(("cpu",) if "efa" in place.options else ()))
            names = tuple(each for each in place.options if each == source or each not in left_out)
            builds += [Build(place, names), Build(place, names[::-1])]
    _judge(kustomize, tmp_path / "builds", some(builds, lambda build: (str(build.place),), of=kustomize.name))


@pytest.mark.nightly
def test_packyard_builds_alike(catalogue: Catalogue, tmp_path: Path) -> None:
    builds = [Build(place, (name,)) for place in catalogue.shapes() for name in place.options]
    for build in some(builds, lambda build: (str(build.place), build.options), of="packyard"):
        place, (name,) = build.place, build.options
        root = place.option("any").parents[1]
        shutil.copytree(root, tmp_path / place.package, dirs_exist_ok=True)
        folder = tmp_path / place.package / place.path
        listed = yaml.safe_load((place.folder / "kustomization.yaml").read_text())
        option = os.path.relpath(place.option(name), place.folder)
        listed["components"] = [*listed.get("components", ()), option]
        (folder / "kustomization.yaml").write_text(yaml.safe_dump(listed))
        built = list(yaml.load_all(render(folder), Loader=yaml.CSafeLoader))
        assert _sorted(built) == _sorted(_expected(build)), str(build)


def test_an_option_that_does_not_fit_is_refused_or_changes_nothing(
    catalogue: Catalogue, served5: Served, tmp_path: Path
) -> None:
    for place in catalogue.shapes():
        folder = place.option("any").parent
        for name in sorted({each.name for each in folder.iterdir() if each.is_dir()} - {*place.options}):
            done = add(served5, tmp_path, place.folder, place.option(name))
            if done.returncode:
                assert_refused(done, name)
            else:
                built = list(yaml.load_all(done.stdout, Loader=yaml.CSafeLoader))
                assert _sorted(built) == _sorted(_expected(Build(place, ()))), f"{place}: {name}"
