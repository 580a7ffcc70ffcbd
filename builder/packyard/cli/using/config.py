"""Show what is set for all commands, and where: by a flag, in the environment, in config.yaml, or by default.

The file is $XDG_CONFIG_HOME/packyard/config.yaml, by default ~/.config/packyard/config.yaml:

  channel: https://models.example.com  where `packyard get` looks
  cacheLimit: 2Gi                      how much of what was fetched is kept
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from packyard.cli import declare, output, preferences, state
from packyard.cli.channels import TIMEOUT
from packyard.cli.preferences import Setting
from packyard.cli.rows import Rows
from packyard.cli.sharing import signing
from packyard.sharing.stores.store import PATIENCE

ROWS = Rows("value", "name, value, origin", columns="NAME, VALUE, ORIGIN")
_DEFAULT = "default"
_SECRETS = (signing.KEY, signing.PASSPHRASE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    declare.value(parser, "--from CHANNEL", "show the values for this channel", dest="channel")


def run(arguments: argparse.Namespace) -> int:
    """Print each value with its origin."""
    rows = [(name, output.masked(each.value), each.origin) for name, each in _values(arguments.channel)]
    ROWS.show(rows, arguments.output)
    return 0


def _values(flag: str | None) -> Iterator[tuple[str, Setting]]:
    configured = preferences.configured_values()
    yield "channel", preferences.channel(flag) or Setting("", _DEFAULT)
    limit = configured.cache_limit
    yield "cacheLimit", Setting(str(limit), configured.places["cacheLimit"]) if limit is not None else _limit()
    seconds = os.environ.get(TIMEOUT)
    yield "timeout", Setting(seconds, TIMEOUT) if seconds else Setting(f"{PATIENCE:g}", _DEFAULT)
    for name in _SECRETS:
        yield name, Setting("(set)", name) if os.environ.get(name) else Setting("", _DEFAULT)
    folders = {"config": state.config_dir(), "cache": state.cache_dir(), "state": state.state_dir()}
    for name, folder in folders.items():
        variable = f"XDG_{name.upper()}_HOME"
        yield f"{name} folder", Setting(str(folder or ""), variable if os.environ.get(variable) else _DEFAULT)


def _limit() -> Setting:
    from packyard.sharing.fetching.cache import LIMIT

    return Setting(str(LIMIT), _DEFAULT)
