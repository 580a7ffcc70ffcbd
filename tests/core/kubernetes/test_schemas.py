"""The schemas themselves: that they are what the operators' modules say, and which versions there are."""

from __future__ import annotations

import json
import re
from functools import cache
from hashlib import sha256

import pytest

import real
from packyard.core.errors import UnavailableError
from packyard.core.kubernetes import schemas as judges
from sample import WHOLE, some
from tools import custom_resources, kubernetes_schemas

FOLDER = real.REPOSITORY / "builder" / "packyard" / "core" / "kubernetes"
GENERATED = FOLDER / "custom_resources.json"


@pytest.mark.nightly
def test_the_schemas_of_kubernetes_are_those_of_kubernetes_validate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", real.path_with("go"))
    assert (FOLDER / "kubernetes_schemas.json").read_text("utf-8") == kubernetes_schemas.build()


@pytest.mark.nightly
def test_the_generated_file_is_what_the_modules_of_the_operators_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the byte, or in what it says of one version of each operator."""
    monkeypatch.setenv("PATH", real.path_with("go"))
    try:
        expected = custom_resources.build(some(custom_resources.MODULES, lambda module: [module.operator]))
    except LookupError as error:
        real.absent(str(error), remedy="let go download it once")
    text = GENERATED.read_text("utf-8")
    if WHOLE:
        assert text == expected
    else:
        assert meanings(expected).items() <= meanings(text).items()


def meanings(text: str) -> dict[tuple[str, str, str], str]:
    """Return of each kind, operator and version a digest of the schema with all that it refers to."""
    table = json.loads(text)

    @cache
    def meaning(number: str) -> str:
        part = json.dumps(table["$defs"][number], sort_keys=True)
        return sha256(re.sub(r"#/\$defs/(\d+)", lambda match: meaning(match[1]), part).encode()).hexdigest()

    return {
        (kind, operator, version): meaning(number)
        for kind, operators in table["kinds"].items()
        for operator, versions in operators.items()
        for version, number in versions.items()
    }


@pytest.mark.parametrize("version", ["1.99", "1", "x.y", ""])
def test_refuses_a_version_without_schemas(version: str) -> None:
    with pytest.raises(UnavailableError, match=rf"no schemas of Kubernetes '{version}': .* has 1\.25 to 1\."):
        judges.choose([version])
