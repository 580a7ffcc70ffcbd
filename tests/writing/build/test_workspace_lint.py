"""Findings of a workspace: at the author's line, each once, also those of what does not compose; and build refuses."""

from pathlib import Path

import pytest

import tiny
from writing.source.libraries import COMPONENT

CM = "bases/one/cm.yaml"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tiny.workspace(tmp_path / "ws")
    tiny.another(root, "q")
    return root


def linted(root: Path, *words: str) -> list[str]:
    return tiny.run("lint", "--workspace", root, *words)[1].replace(f"{root}/", "").splitlines()


def built(root: Path) -> tuple[int, str]:
    code, _, err = tiny.run("build", "--workspace", root, "--version", "1", "--to", root.parent / "out")
    return code, err.replace(f"{root}/", "")


NO_LABELS = "the ConfigMap has no label app.kubernetes.io/name or app.kubernetes.io/instance"
HINT = "(add app.kubernetes.io/name to its labels)"
WARNED = f"{NO_LABELS}: the objects of one run cannot be told from others [no-labels] {HINT}"


def test_a_fault_of_a_base_is_found_once_and_at_its_line(root: Path) -> None:
    tiny.replace(root / CM, "  labels: {app.kubernetes.io/name: x}\n", "")
    prefix = (
        "p/" + next(line for line in (root / "packyard.yaml").read_text().split("\n") if "prefix" in line).split()[1]
    )
    assert linted(root) == [
        f"{CM}:3:1: warning: {WARNED}",
        f"  composed: {prefix}/one/config-map.yaml:3",
    ]
    assert built(root) == (0, f"warning: lint has 1 warning; packyard lint --workspace {root} shows them\n")


def test_a_fault_of_a_patch_is_found_in_the_patch(root: Path) -> None:
    tiny.replace(root / "packages/q/package.yaml", "value: q}]'", "value: Q_}]'")
    (finding, composed) = linted(root)
    assert finding.startswith("packages/q/package.yaml:4:")
    assert "'Q_' is not a valid name" in finding
    assert composed.startswith("  composed: q/")
    code, said = built(root)
    assert code == 1
    assert said.startswith("error: packages/q/package.yaml:4:")
    assert "[no-name]" in said
    assert not (root.parent / "out").exists()


def test_what_does_not_compose_is_found_with_all_else(root: Path) -> None:
    tiny.replace(root / "packages/q/package.yaml", "base: one", "base: two")
    tiny.replace(root / CM, "  labels: {app.kubernetes.io/name: x}\n", "")
    rules = [line.rpartition("[")[2].partition("]")[0] for line in linted(root) if "composed:" not in line]
    assert rules == ["no-labels", "does-not-compose"]


def test_a_config_map_is_one_that_programs_make(root: Path) -> None:
    generator = f"# Runs.\n{COMPONENT}configMapGenerator: [{{name: programs, files: [run.sh]}}]\n"
    tiny.write_all(root / "overlays/programs/s", {"kustomization.yaml": generator, "run.sh": "exec train\n"})
    tiny.replace(root / "packages/p/package.yaml", "base: one", "base: one, programs: [s]")
    for name, is_there in {"program": False, "programs": True}.items():
        volumes = f"    spec:\n      volumes: [{{name: v, configMap: {{name: {name}}}}}]\n"
        tiny.write(root / CM, tiny.POD.replace("    spec:\n", volumes))
        assert any("[dangling-reference]" in line for line in linted(root, "p")) is not is_there


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("packages/p/docs/10-more.md", "{{ nothing }}\n"),
        ("packages/p/files/.git/config", "x"),
        ("packages/p/files/presets/a.yaml", "# A preset.\nNO: 1\n"),
        ("overlays/options/o/kustomization.yaml", "kind: Component\n"),
        ("packages/p/package.yaml", "kind: Package\n"),
    ],
)
def test_what_build_refuses_lint_finds(file: str, text: str, root: Path) -> None:
    tiny.write(root / file, text)
    code, said = built(root)
    assert code == 1
    found = "\n".join(linted(root))
    for line in said.splitlines():
        assert line.removeprefix("error: ").partition(" (")[0] in found.replace("error: ", ""), found


def test_an_exception_in_a_base_holds_for_all_that_is_composed_from_it(root: Path) -> None:
    reason = " # packyard: allow no-labels: nobody looks for it"
    tiny.replace(root / CM, "metadata:\n", f"metadata:{reason}\n")
    assert [line.rpartition(" [")[2] for line in linted(root)] == ["exception-not-needed] (remove the comment)"]
    assert linted(root, "p") == [], "another package may need it"
    tiny.replace(root / CM, "  labels: {app.kubernetes.io/name: x}\n", "")
    assert linted(root) == linted(root, "p") == []
    out = root.parent / "out"
    assert built(root) == (0, "")
    for file in out.rglob("config-map.yaml"):
        assert "packyard: allow" not in file.read_text()
    for file in out.glob("*/packyard.json"):
        assert '"no-labels": "nobody looks for it"' in file.read_text()
    assert tiny.run("lint", out)[:2] == (0, "")


def test_fixes_go_into_the_sources_and_undo_takes_them_back(root: Path) -> None:
    tiny.replace(root / CM, 'a: "1"', "a: 1")
    (finding, _) = linted(root)
    assert "put it in quotes" in finding
    before = (root / CM).read_bytes()
    code, out, err = tiny.run("lint", "--workspace", root, "--fix")
    assert (code, out) == (0, "")
    assert f"{CM}:7: fixed [wrong-type]" in err
    assert 'a: "1"' in (root / CM).read_text()
    assert tiny.run("undo", root)[0] == 0
    assert (root / CM).read_bytes() == before


def test_what_is_removed_from_a_patch_is_not_fixed(root: Path) -> None:
    tiny.write(root / CM, tiny.POD.replace("spec:\n", "spec:\n  suspend: true\n", 1))
    package = root / "packages/p/package.yaml"
    patch = "patches: [{patch: '- {op: replace, path: /spec/suspend, value: false}', target: {kind: Job}}]"
    tiny.replace(package, "base: one", f"base: one, {patch}")
    before = package.read_bytes()
    tiny.run("lint", "--workspace", root, "--fix")
    assert package.read_bytes() == before


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ("no-labels: {severity: off, reason: others label}", ""),
        ("no-labels: {severity: error, reason: we select}", f":3:1: error: {NO_LABELS}"),
        ("no-lable: {severity: off, reason: x}", "packyard.yaml:1: error: lint: there is no rule 'no-lable'"),
        ("no-labels: {severity: low, reason: x}", "no-labels.severity: must be off or warning or error, not 'low'"),
        ("no-labels: {severity: off}", "lint.no-labels.reason: is missing"),
    ],
)
def test_a_workspace_says_how_severe_a_rule_is_and_why(root: Path, rules: str, says: str) -> None:
    tiny.replace(root / CM, "  labels: {app.kubernetes.io/name: x}\n", "")
    with (root / "packyard.yaml").open("a") as file:
        file.write(f"lint: {{{rules}}}\n")
    _, out, errors = tiny.run("lint", "--workspace", root)
    found = [line for line in (out + errors).splitlines() if "no-labels" in line or "no-lable" in line]
    assert any(says in line for line in found) if says else found == []
    assert built(root)[0] == bool(says)


POD = """apiVersion: v1
kind: Pod
metadata:
  name: run # {"$openapi":"INSTANCE_NAME"}
spec:
  containers:
  - name: main
    image: tools:1 # {"$openapi":"IMAGE"}
    volumeMounts: [{name: models, mountPath: /models}]
  volumes: [{name: models, emptyDir: {}}]
"""


def test_an_author_is_told_at_a_line_of_his_own_what_his_parts_do_in_silence(tmp_path: Path) -> None:
    tiny.write(tmp_path / "LICENSE", "free")
    for path, text in {
        "packyard.yaml": "{apiVersion: packyard/v1, kind: Workspace, name: w, prefix: u, license: LICENSE, "
        "libraries: [builtin]}",
        "bases/one/kustomization.yaml": "# Runs.\nresources: [pod.yaml]\n",
        "bases/one/pod.yaml": POD,
        "packages/p/package.yaml": """apiVersion: packyard/v1
kind: Package
model: {name: m, framework: f, category: c, precision: p, mode: training}
useCases:
  one: {base: one, storage: [user-allocated-pvc]}
""",
    }.items():
        tiny.write(tmp_path / path, text)
    said = [line for line in linted(tmp_path) if "[volume-never-mounted]" in line or "[replaced-value]" in line]
    replaced = "is replaced by '', the value of IMAGE in libraries/builtin/Krmfile:8 [replaced-value]"
    assert said[0].startswith(f"bases/one/pod.yaml:8:12: warning: 'tools:1' {replaced}")
    assert said[1:] == [
        "packages/p/package.yaml:5: warning: useCases.one: no container of the base one mounts the volume 'storage' "
        "[volume-never-mounted] (mount it there, or take storage: [none])"
    ]
    tiny.write(tmp_path / "packages/p/patches/pod.yaml", POD.replace("tools:1", "--to=x"))
    tiny.replace(tmp_path / "packages/p/package.yaml", "{base: one, ", "{base: one, patches: [patches/pod.yaml], ")
    at = f"packages/p/patches/pod.yaml:8:12: warning: '--to=x' {replaced}"
    assert [line for line in linted(tmp_path) if line.startswith(at) and "the pattern --to=${IMAGE}" in line]
    pods = "apiVersion: packyard/v1\nkind: PodPatch\nspec:\n  containers:\n  - name: main\n    image: tools:3 "
    tiny.write(tmp_path / "overlays/storage/own/pods.yaml", f'# Own.\n{pods}# {{"$openapi":"IMAGE"}}\n')
    name = "x-k8s-cli: {substitution: {name: STORAGE_NAME, pattern: own}}"
    krmfile = tiny.krmfile(f"    io.k8s.cli.substitutions.STORAGE_NAME: {{{name}}}\n")
    tiny.write(tmp_path / "overlays/storage/own/Krmfile", krmfile)
    tiny.write(tmp_path / "packages/p/patches/pods.yaml", f"{pods}# kpt-set: ${{IMAGE}}\n")
    for old, new in (("patches: [", "patches: [patches/pods.yaml, "), ("[user-allocated-pvc]", "[own]")):
        tiny.replace(tmp_path / "packages/p/package.yaml", old, new)
    said = linted(tmp_path)
    assert any(line.startswith(f"overlays/storage/own/pods.yaml:7:12: warning: 'tools:3' {replaced}") for line in said)
    assert any(
        line.startswith("packages/p/patches/pods.yaml:6:20: warning: kpt's comment does nothing") for line in said
    )
    tiny.replace(tmp_path / "packages/p/package.yaml", "{base: one, ", "{base: one, setters: {IMAGE: a:3}, ")
    assert not [line for line in linted(tmp_path) if "[replaced-value]" in line]
    name = "x-k8s-cli: {substitution: {name: IMAGE, pattern: 'tools:${TAG}'}}"
    setter = "io.k8s.cli.setters.TAG: {x-k8s-cli: {setter: {name: TAG, value: '2'}}}"
    krmfile = tiny.krmfile(f"    io.k8s.cli.substitutions.IMAGE: {{{name}}}\n    {setter}\n")
    tiny.write(tmp_path / "bases/one/Krmfile", krmfile)
    for value, warned in (("", True), ("TAG: '1'", False)):
        use_case = f"useCases:\n  one: {{base: one, storage: [user-allocated-pvc], setters: {{{value}}}}}\n"
        package = (tmp_path / "packages/p/package.yaml").read_text().partition("useCases:")[0]
        tiny.write(tmp_path / "packages/p/package.yaml", package + use_case)
        says = (
            "bases/one/pod.yaml:8:12: warning: 'tools:1' is replaced by 'tools:2', the value of IMAGE in bases/one/Krmf"
        )
        assert any(line.startswith(says) for line in linted(tmp_path)) == warned
    tiny.replace(tmp_path / "bases/one/Krmfile", "    io.k8s.cli.substitutions.IMAGE: {" + name + "}\n", "")
    tiny.replace(tmp_path / "bases/one/Krmfile", "TAG", "IMAGE")
    patch = "patches: [{target: {kind: Pod}, patch: '- {op: replace, path: /spec/containers/0/image, value: b:2}'}]"
    tiny.replace(tmp_path / "packages/p/package.yaml", "setters: {TAG: '1'}", patch)
    tiny.replace(tmp_path / "packages/p/package.yaml", "  one:", "  more-than-13-characters:")
    (error,) = (line for line in linted(tmp_path) if "error" in line)
    assert error.startswith("packages/p/package.yaml:5: error: setters.RUN_NAME: ")
    assert error.endswith("(call the use case otherwise, or give it setters: {RUN_NAME: …})")
    tiny.replace(tmp_path / "packages/p/package.yaml", "more-than-13-characters:", "one:")
    renamed = patch.replace("spec/containers/0/image, value: b:2", "metadata/name, value: dev-run")
    for name, part in (("dev", renamed), ("prod", renamed.replace("dev", "prod")), ("tools", patch)):
        tiny.write(tmp_path / f"bases/{name}/kustomization.yaml", f"resources: [../one]\n{part}\n")
        tiny.replace(tmp_path / "packages/p/package.yaml", "useCases:", f"useCases:\n  {name}: {{base: {name}}}")
    tiny.replace(tmp_path / "bases/one/pod.yaml", 'name: run # {"$openapi":"INSTANCE_NAME"}', "name: run")
    said = linted(tmp_path)
    assert [line.partition(" ")[0] for line in said if "[fixed-name]" in line] == ["bases/one/pod.yaml:4:9:"]
    says = "this replaces the setter IMAGE: it sets nothing in "
    of_base, of_package = (line for line in said if says in line)
    assert of_base.startswith("bases/tools/kustomization.yaml:2:")
    assert of_package.startswith("packages/p/package.yaml:8:")
    assert "(write setters: {IMAGE: 'b:2'} in package.yaml, " in of_package


def test_a_base_that_no_package_uses_is_composed_and_judged(root: Path) -> None:
    tiny.write(root / "bases/new/kustomization.yaml", "# Not used yet.\nresources: [pod.yaml]\n")
    tiny.write(root / "bases/new/pod.yaml", "apiVersion: v1\nkind: Podd\nmetadata: {name: run}\n")
    (error,) = (line for line in linted(root) if ": error: " in line)
    assert error.startswith("bases/new/pod.yaml:1:1: error: there is no v1 Podd in Kubernetes")
    assert built(root)[0] == 1
    assert tiny.run("build", "p", "--workspace", root, "--version", "1", "--to", root.parent / "out")[0] == 0
    tiny.write(
        root / "bases/new/pod.yaml",
        "# packyard: allow unserved-kind: it comes\napiVersion: v1\nkind: Podd\nmetadata: {name: run}\n",
    )
    assert not [line for line in linted(root) if ": error: " in line]
    assert tiny.run("lint", "--workspace", root)[2].startswith("2 use cases, ")
    tiny.write(root / "bases/new/kustomization.yaml", "resource: [pod.yaml]\n")
    assert any("new/kustomization.yaml:1:1: error: resource: is not a known key" in line for line in linted(root))


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("packages/p/patches/old.yaml", "kind: Job\n", ":1: warning: no use case takes this patch in [unlisted-file]"),
        ("packages/r/pacakge.yaml", "kind: Package\n", ": warning: this is no package without package.yaml"),
    ],
)
def test_what_nothing_takes_in_is_told(root: Path, file: str, text: str, says: str) -> None:
    tiny.write(root / file, text)
    (line,) = linted(root)
    place = file if "this is no" not in says else file.rpartition("/")[0]
    assert line.startswith(f"{place}{says}")


def test_a_folder_that_nobody_named_and_that_holds_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny.write(tmp_path / "far/below/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {nam: a}\n")
    monkeypatch.chdir(tmp_path)
    assert "packyard lint . for all below" in tiny.refused("lint")
    assert "far/below/cm.yaml:3" in tiny.run("lint", ".")[1]
    (tiny.workspace(tmp_path / "ws") / "p.tar.gz").touch()
    assert "(tar -xzf ws/p.tar.gz unpacks it)" in tiny.refused("lint", "ws/p.tar.gz", "--workspace", "ws")
    monkeypatch.chdir(tmp_path / "far/below")
    assert "cm.yaml:3" in tiny.run("lint")[1]


def test_a_name_is_a_package_of_the_workspace_inside_a_package_that_is_called_so_too(root: Path) -> None:
    tiny.replace(root / "packages/p/package.yaml", "  one: {base: one}", "  one: {base: one}\n  two: {base: one}")
    assert built(root)[0] == 0
    tiny.untar(root.parent / "out/p.tar.gz", root / "made")
    assert "2 use cases, 0 errors, 0 warnings in p\n" in tiny.packyard("lint", "p", cwd=root / "made/p").stderr


def test_what_a_patch_makes_of_a_carried_base_is_told_once_and_where_the_patch_says_it(tmp_path: Path) -> None:
    root = tiny.workspace(tmp_path / "ws")
    tiny.replace(root / "packyard.yaml", "license: LICENSE\n", "license: LICENSE\nlibraries: [builtin]\n")
    cases = "{base: deployment, storage: [user-allocated-pvc], patches: [a.yaml]}"
    tiny.replace(root / "packages/p/package.yaml", "  one: {base: one}", f"  one: {cases}\n  two: {cases}")
    head = "apiVersion: packyard/v1\nkind: PodPatch\nspec:\n  containers:\n  - name: main\n"
    tiny.write(root / "packages/p/a.yaml", f"{head}    startupProbe: {{httpGet: {{path: /, port: http}}}}\n")
    (said,) = (line for line in linted(root, "p") if ": error: " in line)
    assert said == (
        "packages/p/a.yaml:6:45: error: startupProbe asks by httpGet and by tcpSocket [server-refuses] "
        "(keep one; a patch takes the other out by null: tcpSocket: null)"
    )
    tiny.write(root / "packages/p/a.yaml", f"{head}    ports: [{{containerPort: 8080, name: web}}]\n")
    said = [line for line in linted(root, "p") if "no-such-port" in line]
    assert len(said) == 1
    assert said[0].startswith("packages/p/package.yaml:4: error: no container of the selected pods declares port http")
