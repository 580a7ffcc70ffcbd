"""Our own build against the real kustomize 5.7.1: the same objects in the same order, or both refuse."""

import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tiny
from packyard.core.errors import BeyondError, InputError
from packyard.core.files.tree import Tree
from packyard.using.kustomize import objects
from packyard.using.kustomize.builtin import build
from real import Kustomize
from using.kustomize import both

RESOURCES = "resources: [a.yaml]\n"
HEAD = "apiVersion: v1\nkind: X\nmetadata: {name: x}\n"

WORDS = """\
yes no on off y n Yes ~ null Null true True TRUE false '' "" "a\\tb\\u0007" 'it''s' text a:b a#b http://a.b/c /path
0 5 +5 -5 -0 012 -012 +012 0777 0o14 -0o14 0o8 08 09 09.5 0b11 -0b11 0b 0x1F 0x 0xFFFFFFFFFFFFFFFF 0xFFFFFFFFFFFFFFFFFF
1_000 0_1 1__0 _1 0b1_1 0x_1 1_.5 .5_0 ._5 9223372036854775807 9223372036854775808 -9223372036854775809
18446744073709551615 18446744073709551616 +18446744073709551615 123456789012345678901 0777777777777777777777777
1.10 .5 5. +.5 -.5 -0.0 1e3 1E3 12e03 1e+3 1e 1e6 1e20 1e21 1e400 1.5e300 1e-7 0.000001 1.5e-300 0.1
1:30 1:30:00 2001-12-14T21:59:43Z 2001-12-14T24:59:43Z
= - -a ? - : << .inf -.inf .nan @a `a %a &anchor *nothing ! !!str [] {} [1,'2',08] {a,b}"""
SCALARS = WORDS.split()
SCALARS += ["!!str 1", "!!str 2020-01-01", "!!bool yes", "!!int 5.0", "! 5"]
SCALARS += [
    "one two",
    "a: b",
    "a #b",
    '"line\\nline"',
    '"a\\n"',
    '"\\n"',
    '"\\x7f"',
    '"\\u009f"',
    '"\\ufeff"',
    '"\\uffff"',
    '"\\L"',
    '"\\u0001"',
    '"\\U0001F600"',
]

#: What kustomize refuses to read, even behind an escape, or reads as a blank.
UNREADABLE = [chr(code) for code in (*range(0x7F, 0xA0), 0xFFFE, 0xFFFF)]

CLUSTER_SCOPED = """\
v1 Namespace · v1 Node · v1 PersistentVolume · rbac.authorization.k8s.io/v1 ClusterRole · storage.k8s.io/v1 StorageClass
scheduling.k8s.io/v1 PriorityClass · networking.k8s.io/v1 IngressClass · node.k8s.io/v1 RuntimeClass
apiextensions.k8s.io/v1 CustomResourceDefinition · rbac.authorization.k8s.io/v1beta1 ClusterRoleBinding
policy/v1beta1 PodSecurityPolicy · certificates.k8s.io/v1 CertificateSigningRequest"""
NAMESPACED = """\
v1 ConfigMap · v1 Secret · v1 ServiceAccount · v1 PersistentVolumeClaim · v1 Service · v1 Pod · batch/v1 Job · v1 List
kubeflow.org/v2beta1 MPIJob · apps/v1 Deployment · rbac.authorization.k8s.io/v1 Role · argoproj.io/v1alpha1 Workflow
storage.k8s.io/v1 CSIStorageCapacity · example.org/v1 Namespace · example.org/v1 ClusterRole · batch/v1 CronJob"""


class Judge:
    """A directory that both build."""

    def __init__(self, kustomize: Kustomize, folder: Path) -> None:
        self.kustomize = kustomize
        self.folder = folder

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.folder / name).write_bytes(text.encode())

    def real(self, files: dict[str, str]) -> str | None:
        """Return what kustomize prints, None where it refuses."""
        self.write(files)
        done = self.kustomize("build", self.folder)
        return None if done.returncode else done.stdout

    def agrees(self, files: dict[str, str]) -> None:
        """Hold that both give equal objects in one order, or both refuse."""
        self.write(files)
        both.built(self.kustomize, self.folder)


@pytest.fixture
def judge(kustomize5: Kustomize, tmp_path: Path) -> Judge:
    return Judge(kustomize5, tmp_path)


@pytest.mark.parametrize("scalar", SCALARS)
def test_reads_every_scalar_as_kustomize_does(judge: Judge, scalar: str) -> None:
    text = f"{HEAD}spec:\n  a: {scalar}\n  l:\n  - {scalar}\n  - k: {scalar}\n    z: 1\n  f: [{scalar} ]\n"
    expected = judge.real({"kustomization.yaml": RESOURCES, "a.yaml": text})
    if expected is None:
        with pytest.raises(InputError):
            build(Tree(judge.folder))
    else:
        assert judge.real({"a.yaml": build(Tree(judge.folder)).decode()}) == expected


@pytest.mark.parametrize("scalar", ["yes", "1", "true", "~", "1.5", "2020-01-01", "'1'", "08", "0x1", '"y"', "? 1"])
def test_takes_or_refuses_keys_as_kustomize_does(judge: Judge, scalar: str) -> None:
    judge.agrees({"kustomization.yaml": RESOURCES, "a.yaml": f"{HEAD}spec: {{{scalar}: a}}\n"})


@settings(
    max_examples=25, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters=UNREADABLE), max_size=30), min_size=20))
def test_writes_any_text_so_that_kustomize_reads_that_text(judge: Judge, texts: list[str]) -> None:
    from packyard.using.kustomize import manifest

    values: list[objects.Value] = list(texts)
    written = manifest.write([{"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "list": values}]).decode()
    back = judge.real({"kustomization.yaml": RESOURCES, "a.yaml": written})
    assert back is not None
    assert both.roots(back) == both.roots(written)
    assert both.roots(back) == [{"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "list": texts}]


STRUCTURES = {
    "several documents": f"---\n# a comment\n---\n{HEAD}...\n---\n{HEAD.replace('X', 'Y')}--- # end\n",
    "comments": f'# head\n{HEAD}# between\nspec: # behind\n  a: 1 # {{"$openapi":"A"}}\n  # foot\n',
    "carriage returns": f"{HEAD}spec:\n  a: |\n    x\n    y\n  b: 'p\n\n    q'\n".replace("\n", "\r\n"),
    "a byte order mark": "\ufeff" + HEAD,
    "block scalars": f"{HEAD}spec:\n  a: |\n    x\n     y\n\n    z\n  b: >-\n    p\n    q\n\n    r\n  c: |2\n"
    "     lead\n  d: |+\n    keep\n\n\n  e: |-\n    strip\n\n  f: |\n    #!/bin/sh\n    \techo \"$A\" \\\n      'b'\n"
    "  g: |\n\n    blank\n",
    "block scalars in lists": f"{HEAD}spec:\n- |\n  x\n  y\n- - >\n    p\n  - - |+\n      k\n\n- a: |-\n    t\n",
    "empty collections": f"{HEAD}spec: {{a: , b: [], c: {{}}, d: [[], {{}}, null], e: [[1, [2]], [{{a: [{{}}]}}]]}}\n",
    "anchors": f"{HEAD}b: &b 012\nc: *b\nd: &b [2, {{x: &x yes}}]\ne: [*b, *x]\n",
    "merge keys": f"{HEAD}b: &b {{p: 1, q: 2}}\nc: &c {{q: 3, r: 4}}\nd:\n  <<: *b\n  q: 9\ne:\n  <<: [*b, *c]\n"
    "  z: *b\nf:\n  << : {x: 1}\ng:\n  q: 0\n  <<: *c\nh: &h {<<: *b, s: 5}\ni: {<<: *h}\n",
    "an alias as a key": f"{HEAD}b: &b x\nc:\n  *b : 1\n",
    "metadata that is an alias": "apiVersion: v1\nkind: X\nspec: {m: &m {name: x}}\nmetadata: *m\n",
    "an alias of an anchor in another document": f"{HEAD}a: &a 1\n---\n{HEAD.replace('X', 'Y')}b: *a\n",
    "an alias to itself": f"{HEAD}b: &b [{{<<: *c}}]\n",
    "a key twice": f"{HEAD}spec: {{a: 1, a: 2}}\n",
    "no kind": "apiVersion: v1\nmetadata: {name: x}\n",
    "no name": "apiVersion: v1\nkind: X\nmetadata: {}\n",
    "no apiVersion": "kind: X\nmetadata: {name: x}\n",
    "metadata that is text": "apiVersion: v1\nkind: X\nmetadata: x\n",
    "a number for a name": "apiVersion: v1\nkind: X\nmetadata: {name: 012, namespace: 5}\n",
    "a list of objects": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: B, metadata: {name: b}}\n"
    "- {apiVersion: v1, kind: A, metadata: {name: a}}\n",
    "an empty list of objects": "apiVersion: v1\nkind: List\nitems:\n",
    "a list without items": "apiVersion: v1\nkind: FooList\nmetadata: {name: f}\n",
    "a root that is a list": "- a\n",
    "a root that is text": "a\n",
    "nothing": "",
    "only a comment": "# nothing\n",
    "a role binding of others": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa}\n---\n"
    "apiVersion: example.org/v1\nkind: RoleBinding\nmetadata: {name: b}\nsubjects:\n"
    "- {kind: ServiceAccount, name: sa}\n- {kind: ServiceAccount, name: default}\n",
    "an object twice": f"{HEAD}---\n{HEAD}",
    "an object twice by the default namespace": f"{HEAD}---\n{HEAD.replace('x}', 'x, namespace: default}')}",
    "two versions of an object": f"{HEAD}---\n{HEAD.replace('v1', 'v2')}",
    "two namespaces": f"{HEAD}---\n{HEAD.replace('x}', 'x, namespace: other}')}",
    "an annotation of two lines": "apiVersion: v1\nkind: X\nmetadata:\n  name: x\n  labels: {a: 1}\n  annotations:\n"
    "    e: |\n      x\n      y\n",
    "empty annotations": "apiVersion: v1\nkind: X\nmetadata: {name: x, labels: null, annotations: {}}\n",
}


@pytest.mark.parametrize("namespace", ["", "namespace: ml\n", "namespace: default\n", "namespace: ''\n"])
@pytest.mark.parametrize("text", STRUCTURES.values(), ids=list(STRUCTURES))
def test_builds_the_objects_that_kustomize_builds(judge: Judge, text: str, namespace: str) -> None:
    judge.agrees({"kustomization.yaml": RESOURCES + namespace, "a.yaml": text})


def _objects(table: str) -> str:
    pairs = [row.strip().split() for line in table.splitlines() for row in line.split("·")]
    return "---\n".join(
        f"apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: n{number % 3}\n"
        for number, (version, kind) in enumerate(pairs)
    )


@pytest.mark.parametrize("namespace", ["", "namespace: ml\n"])
@pytest.mark.parametrize("table", [CLUSTER_SCOPED, NAMESPACED])
def test_puts_a_namespace_on_namespaced_kinds_alone(judge: Judge, table: str, namespace: str) -> None:
    judge.agrees({"kustomization.yaml": RESOURCES + namespace, "a.yaml": _objects(table)})


SUBJECTS = """\
{kind: ServiceAccount, name: sa} · {kind: ServiceAccount, name: sa, namespace: default} · {kind: User, name: sa}
{kind: ServiceAccount, name: sa, namespace: o} · {kind: ServiceAccount, name: sa, namespace: other}
{kind: ServiceAccount, name: default} · {kind: User, name: default} · {kind: ServiceAccount, name: nope}
{kind: Group, name: sa, namespace: zz} · {kind: ServiceAccount, name: sa, namespace: ml}
{kind: ServiceAccount, name: sa}, {kind: ServiceAccount, name: sa, namespace: o}"""


@pytest.mark.parametrize("binding", ["RoleBinding", "ClusterRoleBinding"])
@pytest.mark.parametrize("subjects", [row.strip() for line in SUBJECTS.splitlines() for row in line.split("·")])
def test_subjects_of_role_bindings_follow_their_accounts(judge: Judge, binding: str, subjects: str) -> None:
    for namespace, account, own in itertools.product(("", "ml"), ("", "o", "default"), ("", "o")):
        text = (
            f"apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: sa, namespace: '{account}'}}\n---\n"
            f"apiVersion: rbac.authorization.k8s.io/v1\nkind: {binding}\nmetadata: {{name: b, namespace: '{own}'}}\n"
            f"roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}}\nsubjects: [{subjects}]\n"
        )
        judge.agrees({"kustomization.yaml": f"{RESOURCES}namespace: '{namespace}'\n", "a.yaml": text})


@pytest.mark.parametrize(
    "kustomization",
    [
        "",
        "resources:\n",
        "resources: []\n",
        "namespace: ml\n",
        "namespace: 5\nresources: [a.yaml]\n",
        "resources: [5]\n",
        "resources: [a.yaml, ./a.yaml]\n",
        "resources: [b.yaml]\n",
        "resources: ['']\n",
        "resources: [../a.yaml]\n",
        "resources: a.yaml\n",
        "kind: Foo\nresources: [a.yaml]\n",
        "apiVersion: v1\nkind: Kustomization\nresources: [a.yaml]\n",
        "recources: [a.yaml]\n",
        "- a.yaml\n",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- a.yaml # the only one\n",
    ],
)
def test_reads_a_kustomization_as_kustomize_does(judge: Judge, kustomization: str) -> None:
    judge.agrees({"kustomization.yaml": kustomization, "a.yaml": HEAD})


def test_refuses_directories_addresses_and_files_elsewhere_all_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "use-case"
    (folder / "base").mkdir(parents=True)
    (tmp_path / "a.yaml").write_text(HEAD)
    (folder / "link.yaml").symlink_to(tmp_path / "a.yaml")
    (folder / "kustomization.yaml").write_text(
        "resources:\n- base\n- https://example.org/a.yaml\n- ../a.yaml\n- link.yaml\n"
    )
    for gone in ("", "- base\n- https://example.org/a.yaml\n"):
        tiny.replace(folder / "kustomization.yaml", gone, "")
        with pytest.raises(InputError) as caught:
            build(Tree(folder))
        assert [(problem.line, problem.column) for problem in caught.value.problems] == [(2, 3), (3, 3)]


SERVED = "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: a}\n"


@pytest.mark.parametrize(
    ("namespace", "text", "says"),
    [
        ("", f"{HEAD}spec: {{a: 2020-01-01}}\n", r"4:11: kustomize writes 2020-01-01 as a time \(put it in quotes"),
        ("", HEAD.replace("x}", "x, annotations: {a: 0x10}}"), "3:38: annotation 'a' must be text, .*put it in quotes"),
        ("namespace: ml\n", SERVED, "1:1: .*APIService.*install kustomize"),
    ],
)
def test_refuses_what_kustomize_does_in_ways_of_its_own(tmp_path: Path, namespace: str, text: str, says: str) -> None:
    tiny.write_all(tmp_path, {"kustomization.yaml": RESOURCES + namespace, "a.yaml": text})
    with pytest.raises(BeyondError, match=rf"a\.yaml:{says}"):
        build(Tree(tmp_path))
