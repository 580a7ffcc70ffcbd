"""`packyard list`: the packages of a workspace and of a channel, all or with some facts."""

import json
from pathlib import Path

import pytest

from catalogue.usecases import PACKAGES
from packyard.core.digest import Digest
from packyard.sharing import stores
from packyard.sharing.entry import IndexEntry
from sharing.examples import add_to_index
from tiny import done, packyard, write

DIGEST = Digest.of(b"")
NAMES = ["bare", "bert", "rfcn", "unet"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("resnet50", ["resnet50v1-5-fp32-inference-k8s", "resnet50v1-5-fp32-training-k8s"]),
        ("resnet train", ["resnet50v1-5-fp32-training-k8s"]),
        ("VLLM", ["llm-serving"]),
        ("ResNet50 v1.5 serving", ["resnet50v1-5-fp32-inference-k8s"]),
        ("net50", []),
        ("resnet bert", []),
        ("sweep", [item.name for item in PACKAGES if any(use_case.name == "sweep" for use_case in item.use_cases)]),
        (
            "tensorflow inference",
            [each.name for each in PACKAGES if {"tensorflow", "inference"} <= {*each.model.values()}],
        ),
    ],
)
def test_words_choose_among_packages_of_the_catalogue_and_of_a_channel(
    words: str, names: list[str], tmp_path: Path
) -> None:
    every = json.loads(done("list", "-o", "json"))
    entries = [
        IndexEntry(
            name=each["name"], version="1.0.0", tar=DIGEST, digest=DIGEST, size=0, model=each["model"],
            use_cases=tuple(each["useCases"]), description=f"{each['title']}: prose",
        )
        for each in every
    ]  # fmt: skip
    add_to_index(stores.open_store(str(tmp_path)), entries)
    for source in ((), ("--from", tmp_path)):
        found = packyard("list", *words.split(), *source, "-o", "json")
        assert [each["name"] for each in json.loads(found.stdout or "[]")] == names
        assert found.returncode == int(not names)
        assert (
            "from "
            if names
            else words.replace(" ", ", ").join(["has the word '", "'"] if words == "net50" else ["has all of ", ""])
        ) in found.stderr
    assert json.loads(done("list", "--from", tmp_path, "-o", "json")) == [
        {**each, "version": "1.0.0", "indexSeen": 1} for each in every
    ]


@pytest.mark.parametrize(("word", "name"), [("mpijob", "resnet50v1-5-fp32-training-k8s"), ("nvidia", "llm-serving")])
def test_a_word_finds_kinds_and_images_of_the_catalogue(word: str, name: str) -> None:
    assert name in [each["name"] for each in json.loads(done("list", word, "-o", "json"))]


def test_all_verbs_look_in_one_order_and_say_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    channel = tmp_path / "channel"
    channel.mkdir()
    entries = [IndexEntry(name=name, version="1.0.0", tar=DIGEST, digest=DIGEST, size=0, model={}) for name in NAMES]
    add_to_index(stores.open_store(str(channel)), entries)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert "from the packages that packyard carries" in packyard("list").stderr
    write(tmp_path / "config/packyard/config.yaml", f"channel: {channel}\n")
    found = packyard("list", "-o", "json")
    assert [each["name"] for each in json.loads(found.stdout)] == NAMES
    unsigned = "not signed: nobody can tell who published it"
    assert found.stderr == f"from {channel} ({tmp_path}/config/packyard/config.yaml)\n{unsigned}\n"
    assert "no package 'llm-serving' (packyard carries it: add --from carried)" in packyard("get", "llm-serving").stderr
    monkeypatch.setenv("PACKYARD_CHANNEL", "carried")
    assert len(json.loads(done("list", "-o", "json"))) == len(PACKAGES)
    assert packyard("list", "--from", channel).stderr == f"from {channel} (--from)\n{unsigned}\n"
