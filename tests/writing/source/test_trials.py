"""A library is linted: each base with each storage that fits, options on top; errors stop `build` and `publish`."""

from pathlib import Path

import pytest

import tiny
from writing.source.libraries import COMPONENT, HEAD, KRMFILE, KUSTOMIZATION, define

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: run
  labels: &labels {app.kubernetes.io/name: run}
spec:
  replicas: 1 # {"$openapi":"REPLICAS"}
  selector:
    matchLabels: *labels
  template:
    metadata:
      labels: *labels
    spec:
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: main
        image: registry.example/x:1
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        volumeMounts:
        - name: storage
          mountPath: /data
        readinessProbe:
          exec: {command: [ls, /data]}
"""
STORAGE = """\
patches:
- target: {kind: Deployment}
  patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: any}
    spec:
      template:
        spec:
          volumes:
          - name: storage
            emptyDir: {}
"""
BASE, SHELF, OPTION = (
    "bases/decode/deployment.yaml",
    "overlays/storage/cache/kustomization.yaml",
    "overlays/options/dns",
)
PATCHED = f"{OPTION}/kustomization.yaml"
PATCH = """\
patches:
- target: {kind: Deployment}
  patch: |-
    - {op: add, path: /spec/template/spec/dnsPolicy, value: Default}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A library of a base, a storage for it, one for what it does not have, and an option."""
    root = tmp_path / "parts"
    tiny.write(root / "packyard.yaml", HEAD)
    tiny.write(root / "LICENSE", "free\n")
    tiny.write(root / "bases/decode/kustomization.yaml", f"# Decodes.\n{KUSTOMIZATION}resources: [deployment.yaml]\n")
    tiny.write(root / BASE, DEPLOYMENT)
    replicas = define("REPLICAS", "1", "description: How many.", "type: integer", section="# The servers.")
    tiny.write(root / "bases/decode/Krmfile", KRMFILE + replicas)
    tiny.write(root / SHELF, f"# A cache.\n{COMPONENT}{STORAGE}")
    jobs = STORAGE.replace("apps/v1", "batch/v1").replace("Deployment", "Job")
    tiny.write(root / "overlays/storage/jobs/kustomization.yaml", f"# For jobs.\n{COMPONENT}{jobs}")
    tiny.write(root / OPTION / "kustomization.yaml", f"# Names of the node.\n{COMPONENT}{PATCH}")
    return root


def linted(root: Path) -> tuple[list[str], str]:
    """Return the places and rules of errors, and the last line."""
    _, out, said = tiny.run("lint", "--workspace", root)
    found = [line.replace(f"{root}/", "") for line in out.splitlines() if " error: " in line]
    places = [":".join(line.split(":")[:2]) for line in found]
    return [f"{at} {line.rpartition('[')[2].partition(']')[0]}" for at, line in zip(places, found, strict=True)], said


def released(root: Path) -> str:
    """Return what build says, which publish says, too; an empty text if both do it."""
    built = tiny.run("build", "--workspace", root, "--version", "1", "--to", root.parent / "out")
    published = tiny.run("publish", "--workspace", root, "--version", "1", "--to", root.parent / "channel")
    assert built[0] == published[0]
    if not built[0]:
        return ""
    assert published[2] == built[2]
    assert not (root.parent / "channel").exists()
    return built[2].replace(f"{root}/", "")


def test_a_sound_library_is_composed_of_what_fits_and_nothing_is_written(root: Path) -> None:
    before = sorted(root.rglob("*"))
    errors, said = linted(root)
    assert errors == []
    assert said.startswith("1 use case, 0 errors")
    assert sorted(root.rglob("*")) == before
    assert released(root) == ""


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        (BASE, '"REPLICAS"', '"REPLICA"', f"{BASE}:7 does-not-compose"),
        (BASE, "readinessProbe:", "readynessProbe:", f"{BASE}:23 unknown-field"),
        (BASE, "selector:", "selectr:", f"{BASE}:8 unknown-field"),
        (SHELF, "- name: storage", "- name: storag", f"{BASE}:21 mount-without-volume"),
        (PATCHED, "dnsPolicy, value", "dnsPolice, value", f"{PATCHED}:7 unknown-field"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_part_is_found_at_its_line_and_stops_build_and_publish(
    file: str, old: str, new: str, expected: str, root: Path
) -> None:
    tiny.replace(root / file, old, new)
    errors, _ = linted(root)
    assert expected in errors
    place = expected.partition(" ")[0]
    assert f"error: {place}:" in released(root)


def test_what_a_package_of_the_library_gives_a_base_is_not_missing(root: Path) -> None:
    tiny.replace(root / BASE, "registry.example/x:1", 'registry.example/x:1 # {"$openapi":"IMAGE"}')
    errors, _ = linted(root)
    assert errors == [f"{BASE}:18 does-not-compose"]
    package = tiny.FILES["packages/p/package.yaml"].replace("one: {base: one}", "one: {base: decode, storage: [cache]}")
    tiny.write(root / "packages/p/package.yaml", package)
    tiny.write(root / "packages/p/docs/00-title.md", "# P\n")
    tiny.write(root / "packages/p/Krmfile", KRMFILE + define("IMAGE", "registry.example/x:1"))
    assert [each for each in linted(root)[0] if "does-not-compose" in each] == []


def test_programs_are_tried_where_a_base_needs_them_or_they_fit(root: Path) -> None:
    tiny.replace(root / BASE, "registry.example/x:1", 'registry.example/x:1 # {"$openapi":"IMAGE"}')
    serve = "overlays/programs/serve"
    tiny.write(root / serve / "kustomization.yaml", f"# Serves.\n{COMPONENT}{PATCH}")
    tiny.write(root / serve / "Krmfile", KRMFILE + define("IMAGE", "registry.example/x:1"))
    assert linted(root)[0] == []
    tiny.replace(root / serve / "kustomization.yaml", "dnsPolicy, value", "dnsPolice, value")
    assert linted(root)[0] == [f"{serve}/kustomization.yaml:7 unknown-field"]
