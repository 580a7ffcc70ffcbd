"""The catalogue's use cases, judged by real kustomize: their composition, the values given to them, every setter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

import reading
import real
from cfg import Cfg
from packyard.setters.definition import Setter
from packyard.setters.packagefiles import PackageFiles, read_krmfile
from packyard.setters.plan import Plan, plan, plan_unset
from packyard.setters.value import faults
from packyard.source import kustomization
from packyard.source.compose import compose
from packyard.source.package import Package, UseCase
from usecases import CATALOGUE, each_package, each_use_case


def write(package: Package, use_case: UseCase, directory: Path, *, values: bool) -> Path:
    directory.mkdir()
    for path, data in compose(CATALOGUE, package, use_case, values=values).files.items():
        (directory / path).write_bytes(data)
    return directory


@each_use_case
def test_builds_what_its_kustomization_builds(
    package: Package, use_case: UseCase, kustomize5: Path, tmp_path: Path
) -> None:
    composed_dir = write(package, use_case, tmp_path / "composed", values=False)
    source_dir = tmp_path / "source"
    for path, data in kustomization.write(CATALOGUE, package, use_case).items():
        (source_dir / path).parent.mkdir(parents=True, exist_ok=True)
        (source_dir / path).write_bytes(data)
    assert reading.built(kustomize5, composed_dir) == reading.built(kustomize5, source_dir)


@each_use_case
def test_builds_alike_with_old_and_new_kustomize(
    package: Package, use_case: UseCase, kustomize3: Path, kustomize5: Path, tmp_path: Path
) -> None:
    for values in (False, True):
        composed_dir = write(package, use_case, tmp_path / str(values), values=values)
        assert reading.built(kustomize3, composed_dir) == reading.built(kustomize5, composed_dir)


@each_package
def test_the_packages_values_are_applied_as_kustomize_sets_them(package: Package, cfg3: Cfg, tmp_path: Path) -> None:
    """Each value is set once, in all use cases at a time that are given it."""
    given: dict[tuple[str, str], list[Path]] = {}
    use_cases = [(use_case, f"u{number}") for number, use_case in enumerate(package.use_cases)]
    for use_case, name in use_cases:
        write(package, use_case, tmp_path / f"{name}-ours", values=True)
        theirs = write(package, use_case, tmp_path / name, values=False)
        known = reading.setter_values(theirs)
        for setter, value in use_case.setters.items():
            if setter in known:
                given.setdefault((setter, value.text), []).append(theirs)
    for (setter, text), folders in given.items():
        together = tmp_path / "together"
        together.mkdir()
        for folder in folders:
            folder.rename(together / folder.name)
        cfg3.done("set", ".", setter, text, "--recurse-subpackages", cwd=together)
        for folder in folders:
            (together / folder.name).rename(folder)
        together.rmdir()
    for use_case, name in use_cases:
        ours, theirs = tmp_path / f"{name}-ours", tmp_path / name
        assert reading.objects(ours) == reading.objects(theirs), use_case.path
        assert reading.setter_comments(ours) == reading.setter_comments(theirs), use_case.path
        assert reading.setter_values(ours) == reading.setter_values(theirs), use_case.path
        assert reading.set_by_user(ours) == set(), use_case.path
        assert reading.set_by_user(theirs) == {setter for (setter, _), folders in given.items() if theirs in folders}, (
            use_case.path
        )


@each_use_case
def test_the_definitions_are_those_of_the_parts(package: Package, use_case: UseCase, tmp_path: Path) -> None:
    """Beside the values only ``default`` is added, the value as shipped, and what follows from the others."""
    composed_dir = write(package, use_case, tmp_path / "composed", values=True)
    sources = [
        yaml.load(file.read_bytes(), yaml.CSafeLoader)
        .get("openAPI", {})
        .get("definitions", {})  # a Krmfile may hold rules alone
        for folder in (real.REPOSITORY / "bases", real.REPOSITORY / "overlays", package.folder)
        for file in folder.rglob("Krmfile")
    ]
    written_out(sources)
    for key, definition in reading.definitions(composed_dir).items():
        setter = definition["x-k8s-cli"].get("setter")
        if setter:
            value, default = setter.pop("value"), definition.pop("default", "")
            assert str(default) == value, key
        originals = [dict(source[key]) for source in sources if key in source]
        for original in originals:
            if setter:
                del original["x-k8s-cli"]["setter"]["value"]
        assert definition in originals, key


def written_out(sources: list[dict[str, Any]]) -> None:
    """Add ``NAME_VALUE`` for numbers, and the ``values`` of substitutions that have none."""
    names = {key for source in sources for key in source}
    for source in sources:
        for key, definition in list(source.items()):
            name = key.rpartition(".")[2]
            if ".setters." in key and definition.get("type") in ("integer", "number", "boolean"):
                text = {"name": f"{name}_VALUE", "pattern": f"${{{name}}}"}
                implied = {"description": f"{name} as text.", "x-k8s-cli": {"substitution": text}}
                source.setdefault(f"io.k8s.cli.substitutions.{name}_VALUE", implied)
        for definition in source.values():
            substitution = definition["x-k8s-cli"].get("substitution")
            if substitution and "values" not in substitution:
                substitution["values"] = [
                    {"marker": f"${{{name}}}", "ref": f"#/definitions/io.k8s.cli.{kind}.{name}"}
                    for name in dict.fromkeys(re.findall(r"\$\{(\w+)\}", substitution["pattern"]))
                    for kind in ["setters" if f"io.k8s.cli.setters.{name}" in names else "substitutions"]
                ]


@each_use_case
def test_every_setter_changes_a_field_and_set_back_restores_every_byte(package: Package, use_case: UseCase) -> None:
    """In the use case as shipped, and in the first of its base also where all other setters were given values."""
    shipped = in_memory(package, use_case)
    first = next(item for item in package.use_cases if item.base == use_case.base)
    for before in (shipped, set_values(shipped, others(shipped))) if use_case is first else (shipped,):
        for name, setter in setters(before).items():
            changed = set_values(before, {name: another(setter)})
            assert changed.resources != before.resources, f"{name} changes no field"
            if not setter.must_be_set:  # else it is empty, and only `--unset` goes back there
                back = set_values(changed, {name: setter.value})
                assert back.resources == before.resources, f"{name} is not taken back"


def in_memory(package: Package, use_case: UseCase) -> PackageFiles:
    files = compose(CATALOGUE, package, use_case).files
    return PackageFiles(files["Krmfile"], {path: data for path, data in files.items() if path.endswith(".yaml")})


def setters(files: PackageFiles) -> Mapping[str, Setter]:
    return read_krmfile(files).definitions.setters


def set_values(files: PackageFiles, values: Mapping[str, str]) -> PackageFiles:
    return after(files, plan(files, {name: [text] for name, text in values.items()}))


def after(files: PackageFiles, planned: Plan) -> PackageFiles:
    everything = {"Krmfile": files.krmfile, **files.resources, **planned.files}
    return PackageFiles(everything.pop("Krmfile"), everything)


def others(files: PackageFiles) -> dict[str, str]:
    return {name: another(setter) for name, setter in setters(files).items()}


def another(setter: Setter) -> str:
    """Return a value that the setter may have and has not: its example, its default, or one made from what it is."""
    choices = [setter.example, setter.default, "1", "2", f"{setter.value}2"]
    return next(text for text in choices if text and text != setter.value and not faults(setter, [text]))


@each_use_case
def test_unset_restores_every_byte_and_the_definition(package: Package, use_case: UseCase) -> None:
    shipped = in_memory(package, use_case)
    for name, setter in setters(shipped).items():
        assert unset(set_values(shipped, {name: another(setter)}), name) == shipped, name
    assert unset(set_values(shipped, others(shipped)), *setters(shipped)) == shipped


def unset(files: PackageFiles, *names: str) -> PackageFiles:
    return after(files, plan_unset(files, names))
