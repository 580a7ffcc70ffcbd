"""The user's configuration: what it says, where, and what is wrong with it."""

import re
from pathlib import Path

import pytest

import real
from packyard.core.errors import InputError
from packyard.sharing import configuration
from packyard.sharing.configuration import normal


def _read(folder: Path, text: str) -> str:
    (folder / "config.yaml").write_text(text)
    return configuration.read(folder)


def test_no_file_configures_nothing(tmp_path: Path) -> None:
    assert configuration.read(tmp_path) == configuration.read(tmp_path / "none") == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("chanel: /srv/x\n", r":1:1: chanel: is not a known key \(did you mean 'channel'\?\)"),
        ("channel: models\n", r":1:10: channel: 'models' must be an address, or the whole path of a folder"),
        ("channel: [a]\n", ":1:10: channel: must be a string"),
        ("- a\n", "must be a mapping"),
        ("a: b: c\n", "config.yaml"),
    ],
)
def test_refuses_what_is_wrong_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        _read(tmp_path, text)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("https://models.example.com/v", "HTTPS://user:secret@Models.example.com/v/", True),
        ("https://example.com/v", "https://example.com:443/v", True),
        ("http://example.com/v", "http://example.com:80/v", True),
        ("az://container/v", "azure://container/v", True),
        ("oci://example.com/v", "oci://example.com:443/v", True),
        ("oci://example.com/v", "oci+https://example.com/v", True),
        ("oci://127.0.0.1/v", "oci+http://127.0.0.1:80/v", True),
        ("oci://[::1]/v", "oci://[::1]:80/v", True),
        ("file:///srv/a%20b", "/srv/a b/", True),
        ("file://localhost/srv/m", "/srv/../srv/m", True),
        ("https://example.com", "http://example.com", False),
        ("https://example.com", "https://example.com.evil.org", False),
        ("https://example.com", "https://example.com@evil.org", False),
        ("https://example.com/x", "https://evil.org/@example.com/x", False),
        ("https://example.com", "https://example.com:8443", False),
        ("oci://example.com", "oci://example.com:80", False),
        ("oci://example.com", "oci+http://example.com", False),
        ("oci://127.0.0.1", "oci://127.0.0.1:443", False),
        ("oci://127.0.0.1", "oci+https://127.0.0.1", False),
    ],
)
def test_addresses_of_one_channel_are_spelled_alike_and_those_of_others_differ(
    one: str, other: str, is_same: bool
) -> None:
    assert (normal(one) == normal(other)) is is_same


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    page = (real.REPOSITORY / "docs/channels.md").read_text()
    (example,) = re.findall(r"```yaml\n(# config\.yaml\n.*?)```", page, re.DOTALL)
    assert _read(tmp_path, example) == "https://models.example.com"
