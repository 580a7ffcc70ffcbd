"""Command lines for every verb, random ones too: they work, or are refused with a message; none is a bug."""

import os
import random
import shutil
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

import tiny
from packyard.cli import declare
from packyard.cli.cfg import COMMANDS
from packyard.cli.complete import flags_of
from packyard.cli.completion import SHELLS
from packyard.cli.verbs import VERBS
from packyard.core.errors import UsageError
from sample import FUZZ, tries
from tiny import COMMAND, environment

#: What may stand anywhere: folders, files, names, values and what is none of these.
_PLAIN = """
. .. pkg pkg/ ./pkg pkg/A broken odd kpt v1 ws nowhere values.yaml nothing.yaml ch /dev/null - -- =
A MUST LIST S NOPE A=2 A=x LIST=a LIST= MUST= MUST=v =1 A= A==1 NOPE=1 p q o p@1.0 p@ @ a b=c 1 -1 1.0
text json yaml xml true false processes 0 http://127.0.0.1:9/x http:// s3://b file:///x
"""
_ODD = ["", " ", "\n", "\x1b[2J", "\u202e", "ü", "\udcff", "a" * 5000, "9" * 5000, "*", "${A}", "{}", "~", "\\"]
WORDS = (*_PLAIN.split(), *_ODD)
_FLAGS = """
--dry-run --unset --set --values --set-by --recurse-subpackages -R -q -v --workspace --version
--to --from --jobs --built-in --
"""


def command_line(chance: random.Random) -> list[str]:
    """Return the words of a command line: mostly of the verb's own flags, and words that may fit."""
    verb = chance.choice([*VERBS, "set", "setters", "complete", "help", "-q", "nonsense"])
    words = [verb]
    if verb == "cfg":
        words.append(chance.choice([*COMMANDS, "fmt", "nonsense"]))
    if verb in ("completion", "fn"):
        words.append(chance.choice([*SHELLS, "apply-setters", "create-setters", "list-setters"]))
    flags = dict(flags_of(verb, words[1:])) if verb in VERBS else {"--help": None}
    for _ in range(chance.randrange(5)):
        kind = chance.random()
        if kind < 0.6:
            words.append(chance.choice(WORDS))
        elif kind < 0.95 and flags:
            name = chance.choice(list(flags))
            words.append(name)
            if flags[name] is not None:
                words.append(chance.choice(flags[name] or WORDS))
        else:
            words.append(chance.choice(_FLAGS.split()))
    return words


@pytest.mark.nightly
def test_no_command_line_is_a_bug(tmp_path: Path) -> None:
    """Each runs in the folder as it is made, or where the last one left it."""
    chance, folder = random.Random(int(os.environ.get("PACKYARD_SEED", "20"))), tmp_path / "far/down/tree"
    for number in range(FUZZ // 20 or tries(300)):
        if number % 20 == 0:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(tiny.TREES / "words", folder)
        words = [word for word in command_line(chance) if "\0" not in word]
        stand = folder / chance.choice([".", ".", "pkg", "ws", "ws/packages/p", "v1", "broken"])
        stand.mkdir(parents=True, exist_ok=True)
        command = [*COMMAND, *words]
        done = subprocess.run(command, cwd=stand, env=environment(), capture_output=True, stdin=subprocess.DEVNULL)
        assert done.returncode in (0, 1, 2), (words, stand, done.stderr)
        assert b"Traceback" not in done.stderr, (words, stand, done.stderr)


@pytest.mark.parametrize(("verb", "name"), [("list", "words"), ("exec", "command")])
def test_what_stands_behind_two_dashes_is_no_flag(verb: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, seen = import_module(f"packyard.cli.{VERBS[verb][0]}"), []
    monkeypatch.setattr(module, "run", lambda parsed: seen.append(parsed) or 0)
    before = ["run"]
    assert declare.run(module, verb, [*before, "--", "-x"]) == 0
    assert getattr(seen[0], name)[-1] == "-x"
    with pytest.raises(UsageError):
        declare.run(module, verb, [*before, "-x"])
