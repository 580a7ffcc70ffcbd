"""The schemas themselves: that they are what the operators' modules say, and which versions there are."""

import pytest

import real
from packyard.core.errors import UnavailableError
from packyard.core.kubernetes import schemas as judges
from tools import custom_resources, kubernetes_schemas

FOLDER = real.REPOSITORY / "builder" / "packyard" / "core" / "kubernetes"


@pytest.mark.nightly
def test_the_schemas_of_kubernetes_are_those_of_kubernetes_validate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", real.path_with("go"))
    assert (FOLDER / "kubernetes_schemas.json").read_text("utf-8") == kubernetes_schemas.build()


@pytest.mark.nightly
def test_the_generated_file_is_what_the_modules_of_the_operators_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", real.path_with("go"))
    try:
        expected = custom_resources.build()
    except LookupError as error:
        real.absent(str(error), remedy="let go download it once")
    assert (FOLDER / "custom_resources.json").read_text("utf-8") == expected


@pytest.mark.parametrize("version", ["1.99", "1", "x.y", ""])
def test_refuses_a_version_without_schemas(version: str) -> None:
    with pytest.raises(UnavailableError, match=rf"no schemas of Kubernetes '{version}': .* has 1\.25 to 1\."):
        judges.choose([version])
