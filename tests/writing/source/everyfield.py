"""A workspace whose packyard.yaml and package.yaml have every field, in every form."""

from pathlib import Path

import tiny
from packyard.core.bundle import archive
from packyard.core.bundle.archive import Member
from packyard.core.digest import Digest
from packyard.writing.source import library, package, tests
from packyard.writing.source import workspace as workspaces

LIBRARY = b"apiVersion: packyard/v1\nkind: Library\n"
WORKSPACE = """
apiVersion: packyard/v1
kind: Workspace
name: all
prefix: use-cases
license: LICENSE
kubernetes: ["1.34"]
channel: https://models.example.com
libraries:
- builtin
- {name: bundle, version: "1", digest: DIGEST, from: https://channel.example}
- {path: ./libraries/parts}
moved: {OLD: NEW}
lint:
  rules: [lint/ours.yaml]
  name: {severity: "off", reason: r}
""".replace("DIGEST", Digest.of(archive.pack("bundle", [Member(path="packyard.yaml", data=LIBRARY)])))
PACKAGE = """
apiVersion: packyard/v1
kind: Package
model: {name: m, framework: f, category: c, precision: p, mode: training}
setters: {A: "1"}
moved: {OLD: NEW}
requires:
- operator: O
  definitions: [os.example.com]
  image: o
  oldest: "1.2"
  newest: "1.4"
  tested: "1.2.3"
  link: https://example.com
  install: [kubectl apply]
  description: Does what is asked.
- {operator: P, offers: [Resource example.com/p]}
- {secret: s, keys: [k]}
- {kubernetes: "1.31"}
useCases:
  NAME:
    base: part
    storage: [part]
    programs: [part]
    setters: {B: "2"}
    description: Says what it is for.
    after: []
    patches:
    - patches/a.yaml
    - path: patches/a.yaml
      target: {group: g, version: v, kind: K, name: n, namespace: s, labelSelector: a=b, annotationSelector: a=b}
    - {patch: "{kind: ConfigMap, metadata: {name: x}}"}
"""
TESTS = """
tests:
- it: has what is given
  useCases: [name]
  set: {B: "2"}
  preset: p
  enable: [o]
  expect:
  - {kind: K, name: n, path: "a.b[0]", equal: {c: 1}}
  - {kind: K, path: "a['b.c']", contains: [x]}
  - {kind: K, path: "a[name=b].c", matches: ^x}
  - {kind: K, exists: false}
- {it: is refused, refused: B}
"""


def workspace(root: Path) -> Path:
    """Write it."""
    for name in ("bundle", "parts"):
        tiny.write(root / "libraries" / name / "packyard.yaml", LIBRARY.decode())
    tiny.write(root / "packyard.yaml", WORKSPACE)
    tiny.write(root / "LICENSE", "free")
    for folder in ("bases", "overlays/storage", "overlays/programs"):
        (root / folder / "part").mkdir(parents=True)
    tiny.write(root / "packages/all/package.yaml", PACKAGE.replace("NAME", "name"))
    tiny.write(root / "packages/all/patches/a.yaml", "kind: ConfigMap\nmetadata: {name: x}\n")
    tiny.write(root / "packages/all/tests/all.yaml", TESTS)
    return root


def read(root: Path) -> None:
    """Read every file that an author writes."""
    found = library.find(root, obtain=lambda entry: root / "libraries" / entry.name)
    here = workspaces.read(root, libraries=found)
    tests.read_all(here, package.read(here, "all"))


def as_file(file: str) -> str:
    """Return a file as it is documented, by its name or its place in a package."""
    path = Path(file)
    return f"{tests.DIRECTORY}/*.yaml" if path.parent.name == tests.DIRECTORY else path.name


def as_documented(path: str) -> str:
    """Return the path of a field with NAME where it has the name that an author chose."""
    return path.replace("useCases.name", "useCases.NAME").replace("lint.name", "lint.NAME")
