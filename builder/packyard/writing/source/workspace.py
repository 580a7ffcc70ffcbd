"""The workspace: the folder with ``packyard.yaml``, ``packages/``, ``bases/`` and ``overlays/``."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import basename, dirname
from shlex import quote

from packyard.core.errors import InputError, Problem, suggest
from packyard.core.files.paths import WORKSPACE
from packyard.core.work.memo import Memo
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Scalar
from packyard.core.yaml.sources import LIBRARIES, Sources
from packyard.writing.source import library

#: The kinds of parts, each with the folder that has them.
BASE, STORAGE, PROGRAMS, OPTIONS = "base", "storage", "programs", "options"
FOLDERS = {BASE: "bases", **{kind: f"overlays/{kind}" for kind in (STORAGE, PROGRAMS, OPTIONS)}}
#: The file of an overlay that patches pods.
PODS = "pods.yaml"
_PREFIX = "use-cases"  # of packages in a library
#: How severe a rule of lint may be in a workspace.
SEVERITIES = ("off", "warning", "error")
#: An address for others: it has no password, and a shell reads it as one word.
_CHANNEL = re.compile(r"(https|s3|gs|az|oci)://[A-Za-z0-9][A-Za-z0-9._:-]*(/[A-Za-z0-9._~-]+)*")
_PREFIX_PART = re.compile(r"[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A catalogue's sources; `path prefix` is where use cases stand inside a package, ``quickstart/mlops``.

    ``channel`` is the address that READMEs name, if there is one. ``moved`` says of setters that packages used to
    have where each went, ``severities`` of rules of lint how severe each is here, ``rules`` the files of its own. A
    part is looked for in the workspace first, then in its libraries in their order. A library is a workspace that
    others build on; its packages try its parts. ``libraries`` has their folders, and of those that they build on.
    """

    sources: Sources
    name: str
    prefix: str
    license_file: str
    libraries: Mapping[str, Path] = field(default_factory=dict)
    is_library: bool = False
    kubernetes: tuple[str, ...] = ()
    channel: str = ""
    moved: Mapping[str, str] = field(default_factory=dict)
    severities: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[str, ...] = ()

    @property
    def root_dir(self) -> Path:
        """The folder, as the user named it."""
        return self.sources.root_dir

    def package_names(self) -> list[str]:
        """Return the names of all packages, sorted."""
        return sorted(basename(dirname(file)) for file in self.sources.list("packages", "*/package.yaml"))

    @property
    def roots(self) -> tuple[str, ...]:
        """What parts and fragments of READMEs are looked for in: ``""``, ``libraries/NAME/``, …"""
        return ("", *(f"{place}/" for place in self.libraries if place.count("/") == 1))

    def part_dir(self, path: str) -> str:
        """Return the folder of a part, such as ``bases/job``: that of the workspace if nothing has it."""
        return next((f"{root}{path}" for root in self.roots if self.sources.is_folder(f"{root}{path}")), path)

    def part_dirs(self, folder: str) -> dict[str, str]:
        """Return the folders of all parts in ``bases`` or ``overlays/KIND`` by their names, sorted."""
        paths = [path for root in reversed(self.roots) for path in self.sources.list(f"{root}{folder}")]
        return {basename(path): path for path in sorted(paths, key=basename) if self.sources.is_folder(path)}

    def own_parts(self, *kinds: str) -> list[str]:
        """Return the folders of the parts of some kinds that stand in the workspace itself, not in a library."""
        return [path for kind in kinds for path in self.part_dirs(FOLDERS[kind]).values() if is_own(path)]

    def check_target(self, folder: Path) -> None:
        """Refuse a folder for results that lies in the sources: the next build would read it."""
        real = Path(os.path.realpath(folder))
        for name in ("packages", "bases", "overlays", LIBRARIES):
            if real.is_relative_to(os.path.realpath(self.root_dir / name)):
                message = f"lies in the sources, in {self.root_dir / name}"
                raise InputError(Problem(message, file=str(folder), hint="choose a folder elsewhere"))

    def package_dir(self, name: str) -> str:
        """Return a package's folder; an unknown name is refused with the nearest one."""
        folder = f"packages/{name}"
        if "/" in name or not self.sources.is_file(f"{folder}/package.yaml"):
            names = self.package_names()
            meant = basename(name.rstrip("/")).removesuffix(".tar.gz")
            whole = next((parent for parent in names if name.startswith(f"{parent}/")), "")
            hint = f"did you mean {meant!r}?" if meant in names else suggest(meant, names)
            hint = f"name the package as a whole: {whole}" if whole else hint
            hint = hint or (f"it has {', '.join(names)}" if names else "packyard new NAME --base job makes one")
            raise InputError(Problem(f"no package {name!r} in {self.root_dir / 'packages'}", hint=hint))
        return folder


def read(root_dir: Path, memo: Memo | None = None, libraries: Mapping[str, Path] | None = None) -> Workspace:
    """Read ``packyard.yaml``; nothing that it names may lie outside, but for its libraries.

    ``memo`` is that of a run with many tasks. ``libraries`` are those that were found already.
    """
    memo = Memo() if memo is None else memo
    used = library.find(root_dir, memo) if libraries is None else libraries
    sources = Sources(root_dir, memo, used)
    if not sources.is_file(WORKSPACE):
        hint = f"packyard init {quote(str(root_dir))} begins one"
        raise InputError(Problem("no such file, so this is not a workspace", file=sources.shown(WORKSPACE), hint=hint))
    fields = Fields.of_file(sources, WORKSPACE)
    is_library = fields.expect_header("packyard/v1", *library.KINDS) == library.KINDS[0]
    severities, rules = _lint(fields)
    workspace = Workspace(
        sources=sources,
        name=fields.text("name"),
        prefix=fields.text("prefix", _PREFIX if is_library else None).strip("/"),
        license_file=fields.text("license"),
        libraries=used,
        is_library=is_library,
        kubernetes=tuple(fields.texts("kubernetes")),
        channel=fields.text("channel", "").rstrip("/"),
        moved=fields.sentences("moved"),
        severities=severities,
        rules=rules,
    )
    library.read(fields)
    if is_library and not library.NAME.fullmatch(workspace.name):
        fields.fault(fields.node, "name", f"{workspace.name!r} must be lower case words joined by dashes")
    if workspace.channel and not _CHANNEL.fullmatch(workspace.channel):
        problem = f"{workspace.channel!r} is not the address of a channel that READMEs can name"
        fields.fault(fields.node, "channel", problem, "give one such as https://models.example.com, without a password")
    prefix, license_node = fields.anything("prefix"), fields.anything("license")
    if isinstance(prefix, Scalar) and not all(map(_PREFIX_PART.fullmatch, workspace.prefix.split("/"))):
        fields.fault(prefix, "prefix", f"{prefix.value!r} must be words joined by slashes")
    if isinstance(license_node, Scalar):
        fields.find_file(license_node, "license", "", sources)
    fields.done()
    return workspace


def _lint(fields: Fields) -> tuple[dict[str, str], tuple[str, ...]]:
    """Read how severe rules of lint are, each with its reason, and the files of the workspace's own rules."""
    lint = fields.child("lint")
    if lint is None or lint.node is None:
        return {}, ()
    severities, rules = {}, lint.texts("rules")
    for name, node in ((entry.name, entry.value) for entry in lint.node.entries if entry.name != "rules"):
        child = Fields(node, lint.file, f"{lint.path}.{name}", lint.problems)
        severities[name] = child.one_of("severity", SEVERITIES)
        child.text("reason")
        child.done()
    return severities, tuple(rules)


def is_own(path: str) -> bool:
    """Say whether a path of the sources stands in the workspace itself, not in a library."""
    return not path.startswith(f"{LIBRARIES}/")


def find_root(start_dir: Path) -> Path | None:
    """Return the root of the workspace that holds ``start_dir``, or None; as seen from there: ``../..``."""
    for above in range(len(start_dir.resolve().parts)):
        folder = start_dir.joinpath(*[".."] * above)
        if (folder / WORKSPACE).is_file():
            return folder
    return None


def authored(sources: Sources, folder: str, pattern: str = "*") -> list[str]:
    """Return the files that stand in a folder of the sources, sorted; without what is hidden, and editors' copies."""
    paths = sources.list(folder, pattern)
    return [path for path in paths if sources.is_file(path) and not library.LEFT.search(path)]


def built_in() -> Workspace:
    """Return the catalogue that this installation carries, or in a checkout the checkout's own."""
    return read(library.carried_dir())
