"""The newest vLLM, which is for GPUs and not installed: its own parser, among what the one for processors needs."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from models import named, wheels

_HERE = Path(__file__).parents[1]
FACTS = json.loads((_HERE / "facts/vllm.json").read_text())
#: Modules that the newest one imports and the other has no need of.
_STAND_INS = {"orjson.py": "from json import *"}

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def parsed(vllm: Path, newest: Path, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What the parser knows, after it has read all command lines of the package's pods."""
    folder = tmp_path_factory.mktemp("newest")
    (folder / "vllm").symlink_to(newest / "vllm")
    for name, text in _STAND_INS.items():
        (folder / name).write_text(text)
    lines = [*named.command_lines()]
    assert len(lines) > 1
    done = subprocess.run(
        [vllm, _HERE / "parse.py"],
        input=json.dumps(lines),
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_command_lines_are_parsed_and_facts_are_what_the_parser_knows(parsed: set[str]) -> None:
    """The facts leave out what a flag has for its opposite: --enable-lora for --no-enable-lora, and so on."""
    assert sorted({*FACTS["arguments"]} - parsed) == []
    others = (name for name in parsed - {*FACTS["arguments"]} if not re.match("--(no|disable|enable|help)", name))
    assert sorted(others) == []


def test_facts_are_those_of_the_newest(newest: Path) -> None:
    assert wheels.version(newest, "vllm") == FACTS["version"]
    assert {name: FACTS[name] for name in wheels.of_server(newest)} == wheels.of_server(newest)
