"""Values of a use case that differ from those of one that runs before it."""

from pathlib import Path

import pytest

import tiny


@pytest.fixture
def llm(tmp_path: Path) -> Path:
    assert tiny.inside("get", "llm-serving", cwd=tmp_path).returncode == 0
    return tmp_path


def told(llm: Path, *words: str) -> list[str]:
    for word in words:
        assert tiny.inside("set", *word.split(), cwd=llm).returncode == 0
    lines = tiny.inside("setters", "llm-serving/one-node", cwd=llm).stderr.splitlines()
    return [line for line in lines if "runs before" in line]


def test_a_value_that_staging_has_otherwise_is_told_with_the_command_that_sets_all(llm: Path) -> None:
    words, there = "llm-serving -R MODEL_PATH=/models/b", "/models/a in llm-serving/staging"
    line = f"MODEL_PATH is /models/b, and {there}, which runs before: packyard set {words} sets all"
    staged = "llm-serving/staging PVC_NAME=a MODEL_PATH=/models/a"
    assert told(llm, staged, "llm-serving/one-node PVC_NAME=a MODEL_PATH=/models/b RUN_NAME=one") == [line]
    assert not told(llm, words)
    assert told(llm, "llm-serving/staging IMAGE=y:1")[0].endswith(" set llm-serving/one-node IMAGE=y:1 sets both")
    # on-cpu was shipped with another image, and keeps it
    assert told(llm, "llm-serving/one-node IMAGE=x:1")[0].endswith(" set llm-serving/staging IMAGE=x:1 sets both")


def test_a_list_is_set_for_all_an_item_each(llm: Path) -> None:
    for name, words in (("staging", "[a, b]"), ("one-node", "[a, c d]")):
        file = llm / f"llm-serving/quickstart/mlops/{name}/user-allocated-pvc/Krmfile"
        setter = f"{{type: array, x-k8s-cli: {{setter: {{name: X, listValues: {words}}}}}}}"
        tiny.replace(file, "  definitions:\n", f"  definitions:\n    io.k8s.cli.setters.X: {setter}\n")
    line = "X is [a,c d], and [a,b] in llm-serving/staging, which runs before: packyard set llm-serving -R X=a 'X=c d'"
    assert told(llm, "llm-serving/staging PVC_NAME=a") == [f"{line} sets all"]


def test_what_is_not_used_or_gone_differs_from_nothing(llm: Path) -> None:
    assert not told(llm, "llm-serving/one-node PVC_NAME=a MODEL_PATH=/models/b")
    (llm / "llm-serving/quickstart/mlops/staging/user-allocated-pvc/Krmfile").unlink()
    assert not told(llm)
