"""Mistakes in the sources of a workspace, each told at the line where its author made it, whatever else it hides."""

import json
import shutil
from pathlib import Path

import pytest

import tiny

SERVER, JOB, SET = "bases/server/deployment.yaml", "bases/train/job.yaml", "bases/jobset/job-set.yaml"
CHAT, PAGE, WORDS = "packages/chat/package.yaml", "packages/chat/docs/10-title.md", "Krmfile"
TOKEN = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567"

#: A file, a text of it, and the text of the mistake, with a mark before the line that is told; and the rule.
MISTAKES = [
    (SERVER, '# {"$openapi":"CPU"}', '«# {"$openapi":"CPU}', "unbound-comment"),
    ("bases/server/kustomization.yaml", "resources:",
     'images:\n- name: x\n  newTag: "1" «# {"$openapi":"T"}\nresources:', "unbound-comment"),
    (CHAT, "MEMORY: 64Gi", 'MEMORY: 64Gi «# {"$openapi":"MEMORY"}', "unbound-comment"),
    ("bases/server/config-map.yaml", '{"$openapi":"LOG', '«{"$openap":"LOG', "unbound-comment"),
    (SERVER, 'cpu: 4 # {"$openapi":"CPU"}', 'cpu: «4 # {"$openapi":"MEMORY"}', "comment-does-not-fit"),
    (SERVER, '2 # {"$openapi":"REPLICAS"}', '«2 # {"$openapi":"MODEL_NAME"}', "comment-does-not-fit"),
    (WORDS, "      example: registry.example.com/chat:1.0\n", "", "required-unexplained"),
    (WORDS, "minimum: 1\n", "minimum: «20\n", "invalid-keyword"),
    (WORDS, "MEMORY, value: 32Gi", "MEMORY, value: «32GB", "refused-value"),
    (WORDS, "Number of pods.\n      type: integer", "Number of pods.\n      type: «interger", "wrong-value"),
    (WORDS, 'pattern: "${NODES}"', 'pattern: «"${NODE}"', "does-not-compose"),
    (WORDS, "    io.k8s.cli.setters.NODES:", "    «io.k8s.cli.setters.BATCH:\n      description: Rows.\n"
     '      x-k8s-cli: {setter: {name: BATCH, value: "8"}}\n    io.k8s.cli.setters.NODES:', "unused-definition"),
    (CHAT, "MODEL_PATH: llama-3-8b", f"MODEL_PATH: «{TOKEN}", "plain-secret"),
    (CHAT, "ghcr.io/acme/chat:1.0", "«'ghcr.io/acme/chat: 1.0'", "invalid-image"),
    (CHAT, "ghcr.io/acme/chat:1.0", "«ghcr.io/acme/chat:latest", "moving-tag"),
    (CHAT, '{REPLICAS: "4"}', '«{REPLICAS: "12", LOG_LEVEL: debug}', "does-not-compose"),
    (PAGE, "(#storage)", "«(#storages)", "dead-link"),
    (PAGE, "(LICENSE)", "«(LICENCE)", "dead-link"),
    (PAGE, "| `MEMORY` | `64Gi` |", "«| `MEMORY` | `32Gi` |", "stale-default"),
    ("packages/learn/patches/job.yaml", "name: run", "name: «runs", "does-not-compose"),
    (JOB, 'completions: 2 # {"$openapi":"NODES"}', "completions: «2", "forgotten-field"),
    (JOB, "value: $(INSTANCE)-0", "value: «$(INSTNCE)-0", "undefined-variable"),
    (JOB, "- name: INSTANCE\n          value: *run\n        - name: MASTER_ADDR\n          value: $(I",
     "- name: MASTER_ADDR\n          value: «$(INSTANCE)-0\n        - name: INSTANCE\n          value: run-$(I",
     "undefined-variable"),
    (JOB, "      subdomain: *run\n", "", "dangling-reference"),
    (WORDS, "^[0-9]+(Mi|Gi)$", "«'['", "invalid-keyword"),
    (JOB, 'value: "29500"', 'value: «"29501"', "no-such-port"),
    (SET, "-workers-0-0", "«-worker-0-0", "dangling-reference"),
    ("bases/server/service.yaml", "  labels:", "  namespace: «ml\n  labels:", "own-namespace"),
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = Path(shutil.copytree(tiny.TREES / "authored", tmp_path / "zoo"))
    monkeypatch.chdir(root)
    return root


def found(*words: str) -> list[dict[str, object]]:
    findings: list[dict[str, object]] = json.loads(tiny.run("lint", "-o", "json", *words)[1])
    return findings


@pytest.mark.usefixtures("root")
def test_a_sound_workspace_has_no_error_and_nothing_of_these() -> None:
    assert {str(each["rule"]) for each in found()} == {"fs-group-without-effect", "undocumented-parameter"}


def test_a_definition_that_nothing_names_is_told_of_its_package_alone_too(root: Path) -> None:
    setters = "".join(
        f"    io.k8s.cli.setters.{name}:\n      x-k8s-cli: {{setter: {{name: {name}, value: x}}}}\n"
        for name in ("LOG_LEVEL", "BATCH")
    )
    head = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"
    tiny.write(root / "packages/chat/Krmfile", head + setters)
    for words in ([], ["chat"]):
        unused = [(each["file"], each["message"]) for each in found(*words) if each["rule"] == "unused-definition"]
        assert unused == [("packages/chat/Krmfile", "nothing in the workspace names BATCH")]


@pytest.mark.parametrize(("file", "old", "new", "rule"), MISTAKES)
def test_a_mistake_is_told_at_its_line(root: Path, file: str, old: str, new: str, rule: str) -> None:
    tiny.replace(root / file, old, new)
    text = (root / file).read_text()
    (root / file).write_text(text.replace("«", ""))
    line = text.partition("«")[0].count("\n") + 1
    told = [each for each in found() if each["file"] == file and each["rule"] == rule]
    places = [(each["line"], each["message"]) for each in told]
    assert places
    assert len(places) == len(set(places))
    assert "«" not in new or line in [each["line"] for each in told]


def test_a_fault_of_the_workspace_itself_is_a_finding_for_programs(root: Path) -> None:
    tiny.replace(root / "packyard.yaml", "prefix:", "prefx:")
    assert ("packyard.yaml", 4) in [(each["file"], each["line"]) for each in found()]
    assert "did you mean 'prefix'?" in tiny.run("lint")[2]
