"""Nothing needs a lower Pod Security level, or an image whose tag moves, without a reason; no reason is left over."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import real
from packyard.bundle import requirements
from packyard.bundle.assemble import assemble
from packyard.errors import InputError
from packyard.source import workspace
from usecases import PACKAGES, composed

FILES = {
    "packyard.yaml": "apiVersion: packyard/v1\nkind: Workspace\nname: tiny\nprefix: p\nlicense: LICENSE\n",
    "LICENSE": "Do what you like.\n",
    "bases/job/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    "resources: [job.yaml]\n",
    "bases/job/job.yaml": """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      volumes: []
      containers:
      - name: train
        image: a/b:1 # {"$openapi":"IMAGE"}
        imagePullPolicy: Always
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
""",
    "bases/job/Krmfile": """\
openAPI:
  definitions:
    io.k8s.cli.setters.TAG:
      x-k8s-cli: {setter: {name: TAG, value: "1"}}
    io.k8s.cli.substitutions.IMAGE:
      x-k8s-cli: {substitution: {name: IMAGE, pattern: "a/b:${TAG}"}}
""",
    **{
        f"overlays/{name}/{file}": text
        for name, kind in (("nfs", "nfs: {server: s, path: /}"), ("node", "hostPath: {path: /data, type: Directory}"))
        for file, text in (
            ("kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
             "patches: [{path: job.yaml, target: {kind: Job}}]\n"),
            ("job.yaml", f"- op: add\n  path: /spec/template/spec/volumes/-\n  value:\n    name: data\n    {kind}\n"),
            ("Krmfile", f"kind: Krmfile\npodSecurity:\n  level: {'baseline' if name == 'nfs' else 'privileged'}\n"
             "  reason: So it is.\n"),
        )
    },
    "packages/bert/package.yaml": """\
apiVersion: packyard/v1
kind: Package
model: {name: bert, framework: pytorch, category: language-modeling, precision: fp32, mode: training}
setters:
  TAG: "2"
useCases:
  matrix:
    storage:
      nfs: {base: job, overlays: [nfs]}
options: [node]
docs: [levels]
""",
    "packages/bert/docs/levels.md": "{% for each in levels %}{{ each.level }} {{ each.option }} {{ each.places }} "
    "{{ each.reason }}|{% endfor %}{{ moving_tags }}\n",
}  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def build(tree: Path, changed: Mapping[str, str]) -> str:
    """Build the package with texts replaced (``path: OLD -> NEW``), and return its README."""
    for path, change in changed.items():
        old, _, new = change.partition(" -> ")
        assert old in FILES[path]
        (tree / path).write_text(FILES[path].replace(old, new))
    bundle = assemble(workspace.read(tree), "bert", "1.0.0")
    return next(member.data.decode() for member in bundle.members if member.path == "README.md")


def test_the_readme_says_levels_and_reasons(tree: Path) -> None:
    assert build(tree, {}) == "baseline  () So it is.|privileged node () So it is.|{}\n"


MOVING = {"packages/bert/package.yaml": 'TAG: "2" -> TAG: nightly-2'}
KRMFILE, NODE = "overlays/nfs/Krmfile", "overlays/node/Krmfile"


def test_the_readme_says_why_a_tag_moves(tree: Path) -> None:
    reason = 'TAG: "2"\n -> TAG: nightly-2\nmovingTags: {"a/b:nightly-*": It is built each night.}\n'
    assert build(tree, {"packages/bert/package.yaml": reason}).endswith(
        "|{'a/b:nightly-2': 'It is built each night.'}\n"
    )


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({KRMFILE: "podSecurity -> other"}, "packages/bert/package.yaml:7: nfs needs the Pod Security level baseline, "
         "and no part records why: volume data is of the type nfs (podSecurity: {level: baseline, reason: …} in the "),
        ({NODE: "podSecurity -> other"}, "packages/bert/package.yaml:7: the option node of nfs needs the Pod Security "
         "level privileged, and no part records why: volume data is a hostPath"),
        ({NODE: "privileged -> baseline"}, "packages/bert/package.yaml:7: the option node of nfs needs the Pod "
         "Security level privileged"),
        ({KRMFILE: "baseline -> privileged"}, "overlays/nfs/Krmfile:3: podSecurity: nfs does not need the level "
         "privileged, but baseline alone (level: baseline)"),
        ({"overlays/nfs/job.yaml": "nfs: {server: s, path: /} -> emptyDir: {}"}, "overlays/nfs/Krmfile:3: podSecurity: "
         "nfs does not need the level baseline, but restricted alone (take the record away)"),
        ({KRMFILE: "baseline -> restricted"}, "overlays/nfs/Krmfile:3:3: podSecurity.level: has to be one of basel"),
        ({KRMFILE: "  reason: So it is.\n -> "}, "overlays/nfs/Krmfile:3:3: podSecurity.reason: is missing"),
        ({KRMFILE: "So it is. -> ' '"}, "overlays/nfs/Krmfile:3:3: podSecurity.reason: says nothing"),
        ({KRMFILE: "reason: -> reasons:"}, "overlays/nfs/Krmfile:4:3: podSecurity.reasons: is no known key"),
        (MOVING, "packages/bert/package.yaml:5: the tag of a/b:nightly-2 moves, for a reason that nobody records"),
        ({**MOVING, "bases/job/job.yaml": "Always -> IfNotPresent"}, "packages/bert/package.yaml:5: the tag of "
         "a/b:nightly-2 moves, and nfs does not pull it again each time (imagePullPolicy: Always, or another tag)"),
        ({"packages/bert/package.yaml": "docs: -> movingTags: {'*': ' '}\ndocs:"}, "packages/bert/package.yaml:11:19: "
         "movingTags.*: is no reason"),
    ],
)  # fmt: skip
def test_what_has_no_reason_or_a_wrong_one_is_refused_by_its_place(
    tree: Path, changed: Mapping[str, str], expected: str
) -> None:
    with pytest.raises(InputError) as raised:
        build(tree, changed)
    found = [str(problem).removeprefix(f"{tree}/") for problem in raised.value.problems]
    assert any(problem.startswith(expected) for problem in found), found


def test_everything_without_a_reason_is_named_at_once(tree: Path) -> None:
    with pytest.raises(InputError) as raised:
        build(tree, {KRMFILE: "podSecurity -> other", NODE: "podSecurity -> other", **MOVING})
    assert len(raised.value.problems) == 3


def test_the_catalogue_says_why_of_no_tag_that_it_does_not_have() -> None:
    images = {
        image
        for package in PACKAGES
        for use_case in package.use_cases
        for image in requirements.images(composed(package, use_case).values())
    }
    patterns = {pattern for package in PACKAGES for pattern in package.moving_tags}
    assert patterns
    unused = {pattern for pattern in patterns if not any(fnmatchcase(image, pattern) for image in images)}
    assert unused == set(), real.REPOSITORY / "packages/_shared/shared.yaml"
