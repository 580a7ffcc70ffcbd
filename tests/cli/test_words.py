"""Command lines for every verb, random ones too: they work, or are refused with a message; none is a bug."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import tiny
from packyard.cli import parser
from packyard.cli.cfg import COMMANDS
from packyard.cli.complete import flags_of
from packyard.cli.completion import SHELLS
from packyard.cli.verbs import VERBS
from packyard.core.errors import UsageError
from sample import FUZZ, tries
from tiny import SOURCE_ROOT, environment

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


def _module(verb: str) -> ModuleType:
    return import_module(f"packyard.cli.{VERBS[verb][0]}")


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


def run(words: list[str], folder: Path) -> tuple[int, str]:
    """Run a command line in a copy of this process, which has imported what most need."""
    outer, inner = os.pipe()
    child = os.fork()
    if not child:
        os.chdir(folder)
        os.close(outer)
        null = os.open(os.devnull, os.O_RDWR)
        for number, stream in ((0, null), (1, inner), (2, inner)):
            os.dup2(stream, number)
        from packyard.cli.main import main

        try:
            code = main(words)
            sys.stdout.flush()
        except BaseException:
            import traceback

            os.write(2, traceback.format_exc().encode())
            code = 9
        os._exit(code)
    os.close(inner)
    with os.fdopen(outer, "rb") as stream:
        said = stream.read().decode("utf-8", "backslashreplace")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def many(seed: int, count: int, folder: Path) -> list[str]:
    """Run so many command lines, each in the folder as it is made or where the last one left it; return the faults."""
    chance = random.Random(seed)
    faults = []
    for number in range(count):
        if number % 20 == 0:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(tiny.TREES / "words", folder)
        words = [word for word in command_line(chance) if "\0" not in word]
        stand = folder / chance.choice([".", ".", "pkg", "ws", "ws/packages/p", "v1", "broken"])
        stand.mkdir(parents=True, exist_ok=True)
        code, said = run(words, stand)
        if code not in (0, 1, 2) or "Traceback" in said or "a bug of packyard" in said:
            faults.append(f"{words!r} in {stand.relative_to(folder)}: {code}\n{said[-1500:]}")
    return faults


@pytest.mark.nightly
def test_no_command_line_is_a_bug(tmp_path: Path) -> None:
    count = FUZZ // 20 or tries(800)
    script = f"import sys; sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}\n"
    script += "import test_words as t\nfrom pathlib import Path\nimport packyard.cli.using.set, packyard.cli.parser\n"
    script += f"print('\\n'.join(t.many({os.environ.get('PACKYARD_SEED', 20)}, {count}, Path(sys.argv[1]))))"
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "far" / "down" / "tree")],
        env=environment(PYTHONPATH=f"{SOURCE_ROOT}"),
        capture_output=True,
        text=True,
        timeout=3600,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stdout.strip(), done.stdout


@pytest.mark.parametrize(("verb", "name"), [("list", "words"), ("exec", "command")])
def test_what_stands_behind_two_dashes_is_no_flag(verb: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, seen = _module(verb), []
    monkeypatch.setattr(module, "run", lambda parsed: seen.append(parsed) or 0)
    before = ["run"]
    assert parser.run(module, verb, [*before, "--", "-x"]) == 0
    assert getattr(seen[0], name)[-1] == "-x"
    with pytest.raises(UsageError):
        parser.run(module, verb, [*before, "-x"])
