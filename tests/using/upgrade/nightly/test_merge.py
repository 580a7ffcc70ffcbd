"""Random packages moved to random next versions: no value, option or edit is lost.

`make fuzz` runs 10,000 of them. What a user sets and enables is done here by the engines of `set` and `enable`; each
line that somebody adds, changes or removes by hand is there once, so that it is seen whether it is still there.
"""

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from packyard.core.bundle.manifest import Manifest
from packyard.core.errors import Problem
from packyard.using.options.options import Options
from packyard.using.setters.definition import Setter
from packyard.using.setters.packages import PackageFiles, read_krmfile
from packyard.using.setters.plan import Assignment, plan
from packyard.using.upgrade.merge import Merged, Versions, merge
from sample import tries

MERGES = min(tries(100), 10_000)
_BATCH = 50
RUN, OPTIONS = "run/nfs", "run/options"
_NAMES = [f"S{number}" for number in range(8)]
_HEADER = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"
_KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"
_COMPONENT = b"apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"

Files = Mapping[str, bytes]


@dataclass
class Package:
    """The sources of one version: setters with their default and most digits, plain lines, resources, options."""

    setters: dict[str, tuple[str, int]]
    lines: list[str]
    resources: list[str]
    options: list[str]
    moved: dict[str, str] = field(default_factory=dict)

    def files(self) -> dict[str, bytes]:
        definitions = "".join(
            f"    io.k8s.cli.setters.{name}:\n      type: string\n      maxLength: {most}\n"
            f'      x-k8s-cli:\n        setter:\n          name: {name}\n          value: "{value}"\n'
            + ("" if value else "          required: true\n")
            for name, (value, most) in self.setters.items()
        )
        bound = {name: f'  b-{name}: "{value}" # {{"$openapi":"{name}"}}' for name, (value, _) in self.setters.items()}
        placed = [self.moved.get(line[1:], line[1:]) for line in self.lines if line[:1] == "@"]
        data = [bound.get(self.moved.get(line[1:], line[1:]), "") if line[:1] == "@" else line for line in self.lines]
        data = [line for line in data if line] + [line for name, line in bound.items() if name not in placed]
        named = dict.fromkeys(self.resources, "kind: ConfigMap\nmetadata: {name: x}\n")
        files = {
            f"{RUN}/Krmfile": _HEADER + definitions,
            f"{RUN}/cm.yaml": "\n".join(["kind: ConfigMap", "metadata: {name: run}", "data:", *data, ""]),
            f"{RUN}/kustomization.yaml": _KUSTOMIZATION
            + "".join(f"- {name}\n" for name in ("cm.yaml", *self.resources)),
            **{f"{RUN}/{name}": text for name, text in named.items()},
        }
        options = {f"{OPTIONS}/{name}/kustomization.yaml": _COMPONENT for name in self.options}
        return {**{path: text.encode() for path, text in files.items()}, **options}

    def bundle(self, version: str) -> dict[str, bytes]:
        described = Manifest(name="p", version=version, model={}, moved=self.moved, use_cases={})
        return {**self.files(), "packyard.json": described.to_bytes()}


@dataclass
class Work:
    """What a user did: values, options, and texts of lines that were added and removed, by their files."""

    values: dict[str, str] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)
    added: dict[str, list[str]] = field(default_factory=dict)
    removed: dict[str, list[str]] = field(default_factory=dict)


def first(chance: random.Random) -> Package:
    names = _NAMES[: chance.randint(2, 5)]
    lines = [f"  line-{number}: base" for number in range(chance.randint(8, 24))]
    for name in names:  # marks for the fields of setters
        lines.insert(chance.randrange(len(lines)), f"@{name}")
    return Package(
        setters={name: ("" if chance.random() < 0.2 else str(chance.randint(1, 9)), 3) for name in names},
        lines=lines,
        resources=[f"r{number}.yaml" for number in range(chance.randint(0, 2))],
        options=[f"o{number}" for number in range(3)],
    )


def following(chance: random.Random, old: Package) -> Package:
    """Make the next version."""
    new = Package(
        setters=dict(old.setters),
        lines=edited(chance, old.lines, "  new-{}: theirs"),
        resources=[*old.resources, "r9.yaml"] if chance.random() < 0.3 else list(old.resources),
        options=[name for name in old.options if chance.random() < 0.95],
    )
    for name in list(new.setters):
        what = chance.random()
        value, most = new.setters[name]
        if what < 0.2:
            new.setters[name] = (str(chance.randint(1, 9)), most)
        elif what < 0.25:
            new.setters[name] = (value, 1)
        elif what < 0.28:
            del new.setters[name]
        elif what < 0.38:
            new.setters = {f"N{name}" if each == name else each: facts for each, facts in new.setters.items()}
            new.moved[name] = f"N{name}"
    if chance.random() < 0.3:
        new.setters["S9"] = ("", 3)
    return new


def edited(chance: random.Random, lines: list[str], form: str) -> list[str]:
    """Add, change and remove some lines."""
    lines = list(lines)
    for number in range(chance.choice((0, 0, 0, 1, 2))):
        place, what = chance.choice([at for at, line in enumerate(lines) if line[:1] != "@"]), chance.random()
        text = form.format(chance.randrange(10**9) if what < 0.8 else number)
        if what < 0.35:
            lines.insert(place, text)
        elif what < 0.7 or len(lines) < 3:
            lines[place] = text
        else:
            del lines[place]
    return lines


def use(chance: random.Random, old: Package, files: Files) -> tuple[dict[str, bytes], Work]:
    """Do what a user does to an untarred package: set, enable, edit, add and remove files."""
    work = Work()
    for name in old.setters:
        if chance.random() < 0.4:
            work.values[name] = str(chance.choice((old.setters[name][0] or 5, chance.randint(1, 12))))
    work.options = [name for name in old.options if chance.random() < 0.3]
    ours = given(files, work.values, work.options)
    if chance.random() < 0.2:
        path, name = f"{RUN}/Krmfile", chance.choice(list(old.setters))
        work.added[path] = [f"      description: edit {chance.randrange(10**9)}"]
        mark = f"    io.k8s.cli.setters.{name}:\n"
        ours[path] = ours[path].replace(mark.encode(), f"{mark}{work.added[path][0]}\n".encode())
    if chance.random() < 0.5:
        hand_edit(chance, ours, f"{RUN}/cm.yaml", work)
    return ours, work


def hand_edit(chance: random.Random, ours: dict[str, bytes], path: str, work: Work) -> None:
    lines = ours[path].decode().split("\n")[:-1]
    form = "  edit-{}: ours"
    head, body = lines[:3], lines[3:]
    bound = [line for line in body if "$openapi" in line]
    if bound and chance.random() < 0.2:  # a field that is edited beside its setter
        line = chance.choice(bound)
        body[body.index(line)] = re.sub('"[^"]*" #', f'"edit-{chance.randrange(10**9)}" #', line)
    new = edited(chance, body, form) if len(body) > 2 else [*body, form.format(chance.randrange(10**9))]
    ours[path] = "\n".join([*head, *new, ""]).encode()
    work.added[path] = [line for line in new if "edit" in line]
    work.removed[path] = [line for line in body if line not in new and "edit" not in line and "$openapi" not in line]


def given(files: Files, values: Mapping[str, str], options: list[str]) -> dict[str, bytes]:
    """Set values and enable options as the verbs do."""
    files = dict(files)
    prefix = f"{RUN}/"
    resources = {
        path.removeprefix(prefix): data
        for path, data in files.items()
        if path.startswith(prefix) and path.endswith(".yaml")
    }
    package = PackageFiles(files[f"{RUN}/Krmfile"], resources)
    for name, value in values.items():
        package = package.with_files(plan(package, Assignment({name: [value]})).files)
    files.update({prefix + path: data for path, data in package.files.items()})
    if options:
        files[f"{RUN}/kustomization.yaml"] = enabled(files).switched(options)
    return files


def enabled(files: Files) -> Options:
    root = Path("/nowhere/p")
    path = f"{RUN}/kustomization.yaml"
    return Options.of_file(root / RUN, str(root / OPTIONS), files[path], path)


def setters(files: Files) -> Mapping[str, Setter]:
    return read_krmfile(PackageFiles(files[f"{RUN}/Krmfile"], {})).definitions.setters


@dataclass
class Case:
    """One merge: three versions, what the user did, and what came of it."""

    old: Package
    new: Package
    base: Files
    ours: Files
    theirs: Files
    work: Work

    @classmethod
    def make(cls, seed: int) -> "Case":
        chance = random.Random(seed)
        old = first(chance)
        new = following(chance, old)
        base = old.bundle("1.0")
        ours, work = use(chance, old, base)
        return cls(old, new, base, ours, new.bundle("1.1"), work)

    def merged(self, decision: str = "") -> tuple[Merged, dict[str, bytes]]:
        versions = Versions(base=self.base, ours=self.ours, theirs=self.theirs, root_dir=Path("/nowhere/p"), new="1.1")
        found = merge(versions, decision)
        after = {**self.ours, **{path: new for path, (_, new) in found.files.items()}}
        return found, {path: data for path, data in after.items() if data is not None}

    def name(self, name: str) -> str:
        return self.new.moved.get(name, name)

    def taken(self) -> dict[str, str]:
        """Return the values that the new version admits."""
        return {
            self.name(name): value
            for name, value in self.work.values.items()
            if self.name(name) in self.new.setters and len(value) <= self.new.setters[self.name(name)][1]
        }


def lost(case: Case, after: Files, *, kept: bool = True) -> Iterator[str]:
    """Yield what of the user's work is not there afterwards."""
    found = setters(after)
    for name, value in case.work.values.items():
        setter = found.get(case.name(name))
        if setter is None or setter.value != value or not setter.is_set:
            yield f"{name}={value}"
    for name in {*case.work.options} - enabled(after).enabled.keys():
        yield f"option {name}"
    for path, lines in case.work.added.items():
        yield from (line for line in lines if line.encode() not in after.get(path, b"").split(b"\n"))
    for path, lines in case.work.removed.items() if kept else ():
        yield from (f"removed {line}" for line in lines if line.encode() in after.get(path, b"").split(b"\n"))


def not_arrived(case: Case, after: Files) -> Iterator[str]:
    """Yield what of the new version is not there afterwards, where the user left it alone."""
    now = setters(after)
    for name, setter in setters(case.theirs).items():
        if name not in map(case.name, case.work.values) and (name not in now or now[name].value != setter.value):
            yield f"default of {name}"
    for path, data in case.theirs.items():
        ours = set(case.ours.get(path, b"").split(b"\n"))
        news = [line for line in data.split(b"\n") if b"new" in line and line not in ours]
        yield from (f"{path}: {line!r}" for line in news if line not in after.get(path, b"").split(b"\n"))
        if path not in case.ours and path not in after:
            yield path
    yield from (path for path in after if path in case.base and path not in case.theirs and path not in case.work.added)


def not_followed(after: Files) -> list[str]:
    """Return the fields that do not show the value of their setter, though nobody edited them."""
    resources = {"cm.yaml": after[f"{RUN}/cm.yaml"]}
    package = PackageFiles(after[f"{RUN}/Krmfile"], resources)
    values = {name: [setter.value] for name, setter in setters(after).items() if setter.value}
    changes = plan(package, Assignment(values)).changes
    return [change.path for change in changes if change.old != change.new and "edit" not in change.old]


@pytest.mark.nightly
@pytest.mark.parametrize("begin", range(0, MERGES, _BATCH))
def test_no_edit_is_lost(begin: int) -> None:
    for seed in range(begin, min(begin + _BATCH, MERGES)):
        judge(Case.make(seed), f"seed {seed}")


def judge(case: Case, what: str) -> None:
    found, after = case.merged()
    assert after["packyard.json"] == case.theirs["packyard.json"], what
    taken = case.taken()
    refused = {name for name in case.work.values if case.name(name) not in taken}
    assert named(found, r"(\w+) is set to ") == refused, what
    assert named(found, r"option '(\w+)' is enabled") == {*case.work.options} - {*case.new.options}, what
    if not found.conflicts:
        assert not list(lost(case, after)), what
        assert not list(not_arrived(case, after)), what
        assert not not_followed(after), what
        again = Case(case.old, case.new, case.theirs, after, case.theirs, case.work).merged()[0]
        assert not again.files, what
        return
    assert all(conflict.file and (conflict.line or "removed" in conflict.message) for conflict in found.conflicts), what
    _, ours = case.merged("ours")
    assert not [each for each in lost(case, ours, kept=False) if not is_about(each, found.conflicts)], what
    _, theirs = case.merged("theirs")
    assert not list(not_arrived(case, theirs)), what
    _, both = case.merged("markers")
    texts = b"\n".join(both.values())
    for path, lines in case.work.added.items():
        assert all(line.encode() in both.get(path, b"") for line in lines), what
    assert b"<<<<<<< yours" not in texts or b">>>>>>> 1.1" in texts, what


def named(found: Merged, pattern: str) -> set[str]:
    """Return what the messages of conflicts name."""
    matches = (re.match(pattern, conflict.message) for conflict in found.conflicts)
    return {match[1] for match in matches if match}


def is_about(text: str, conflicts: tuple[Problem, ...]) -> bool:
    """Say whether a conflict tells of a value or an option."""
    name = text.removeprefix("option ").partition("=")[0]
    return any(re.search(rf"\b{re.escape(name)}\b", conflict.message) for conflict in conflicts)
