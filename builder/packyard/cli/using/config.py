"""Show what is set for all commands, and where: by a flag, in the environment, in config.yaml, or by default.

packyard config                             each value and where it is from
packyard config set channel ADDRESS         write a value into the file

The file is $XDG_CONFIG_HOME/packyard/config.yaml, by default ~/.config/packyard/config.yaml:

  channel: https://models.example.com  where `packyard get` looks
"""

import os
from collections.abc import Iterator, Sequence
from json import dumps

from packyard.cli import declare, output, preferences
from packyard.cli.preferences import Setting
from packyard.cli.rows import Rows
from packyard.core.errors import UsageError
from packyard.core.files import atomic, home
from packyard.sharing import configuration

ROWS = Rows("value", "name, value, origin", columns="NAME, VALUE, ORIGIN")
_DEFAULT = "default"


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("words", metavar="[set channel ADDRESS]", nargs="*")


def run(arguments: declare.Arguments) -> None:
    """Print each value with its origin; write one before, if that is asked for."""
    if arguments.words:
        _set(arguments.words)
    rows = [(name, output.masked(setting.value), setting.origin) for name, setting in _values()]
    ROWS.show(rows, arguments.output)


def _set(words: Sequence[str]) -> None:
    """Write a value into the user's file, in the line that it has there."""
    if len(words) != 3 or words[:2] != ["set", "channel"]:
        raise UsageError("packyard config: type packyard config, or packyard config set channel ADDRESS")
    folder = home.config_dir()
    _, name, value = words
    if wrong := configuration.misfit(value):
        raise UsageError(f"packyard config: {wrong}")
    file = folder / configuration.FILE
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    rest = [line for line in lines if not line.startswith(f"{name}:")]
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join([*rest, f"{name}: {dumps(value, ensure_ascii=False)}", ""])
    atomic.write(str(file), text.encode(), mode=0o644, durable=True)


def _values() -> Iterator[tuple[str, Setting]]:
    yield "channel", preferences.channel() or Setting("", _DEFAULT)
    folders = {"config": home.config_dir(), "cache": home.cache_dir(), "state": home.state_dir()}
    for name, folder in folders.items():
        variable = f"XDG_{name.upper()}_HOME"
        origin = variable if os.environ.get(variable) else _DEFAULT
        why = home.lack(folder)
        yield f"{name} folder", Setting("" if why else str(folder), why or origin)
