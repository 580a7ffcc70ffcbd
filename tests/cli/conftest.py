"""The user whom tests of the command line are: with folders of their own, and without a key, a channel or a proxy."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that holds CONFIG, STATE and CACHE."""
    folder = tmp_path_factory.mktemp("home")
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / name))
    for name in ("PACKYARD_SIGNING_KEY", "PACKYARD_KEY_PASSPHRASE", "PACKYARD_CHANNEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return folder
