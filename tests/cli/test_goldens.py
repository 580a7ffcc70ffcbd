"""What each verb prints with ``-o json``, held by a file of tests/cli/goldens/: what scripts of users read.

PACKYARD_WRITE=1 writes the files; look at each line that differs before you commit it.
"""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

import tiny
from documents.test_json import documented, seen
from running import stub
from tiny import packyard

GOLDENS = Path(__file__).with_name("goldens")
#: What a verb is called with, in the order of a day of work. DIR is the use case, OUT where bundles are.
VERBS = {
    "init": "init zoo",
    "new --list": "new --list --workspace other",
    "new": "new hello --base one --workspace other",
    "import": "import other/bases/one --workspace zoo",
    "lint": "lint broken",
    "build": "build tiny --workspace small --version 1.0 --to out",
    "publish": "publish tiny --workspace small --version 1.0 --to channel",
    "copy": "copy channel public",
    "list": "list --from channel",
    "show": "show tiny --from channel",
    "show --images": "show tiny --from channel --images",
    "get": "get tiny --from channel",
    "verify FILE": "verify out/tiny.tar.gz",
    "setters": "setters DIR",
    "set": "set DIR PVC_NAME=disk",
    "explain": "explain DIR EPOCHS",
    "enable": "enable DIR debug",
    "enable without OPTION": "enable DIR",
    "render": "render DIR",
    "diff": "diff out/tiny.tar.gz tiny",
    "verify DIR": "verify tiny",
    "undo --list": "undo DIR --list",
    "undo": "undo DIR",
    "undo --redo": "undo DIR --redo",
    "enable --off": "enable DIR debug --off",
    "deploy": "deploy DIR --no-doctor",
    "status": "status",
    "status RUN": "status first",
    "logs --events": "logs first --events",
    "results": "results first",
    "rollback --list": "rollback first --list",
    "rollback": "rollback first 1",
    "doctor": "doctor DIR",
    "undeploy": "undeploy first --yes",
    "upgrade": "upgrade tiny new/tiny.tar.gz",
    "config": "config",
    "yank": "yank tiny@1.0 --reason slow --from channel",
    "gc": "gc channel --yanked --dry-run",
    "fsck": "fsck channel",
    "keys": "keys new mine --no-passphrase",
}
_CHANGING = re.compile(r"(?P<digest>sha256:)?[0-9a-f]{64}|(?P<time>\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00))")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each verb prints, one after the other."""
    folder = tmp_path_factory.mktemp("day")
    shutil.copytree(tiny.TREES / "small", folder / "small")
    tiny.workspace(folder / "other")
    tiny.write(folder / "broken/Krmfile", "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n")
    tiny.write(folder / "broken/r.yaml", 'a: b # {"$openapi":"NO"}\n')
    env = {
        "PATH": str(stub.install(folder / "bin")),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "XDG_STATE_HOME": str(folder / "state"),
    }
    found = {}
    for name, line in VERBS.items():
        if name == "upgrade":
            changed = folder / "small/bases/job/config-map.yaml"
            tiny.replace(changed, "/storage/output", "/storage/results")
            words = "build tiny --workspace small --version 1.1 --to new"
            assert packyard(*words.split(), cwd=folder, **env).returncode == 0
        if name == "fsck":
            (folder / "channel/1.0/tiny.tar.gz").unlink()
        head, dashes, command = line.replace("DIR", "tiny/cases/first").partition(" -- ")
        words = [*head.split(), "-o", "json", *(["--", *command.split()] if dashes else [])]
        done = packyard(*words, cwd=folder, **env)
        assert done.stdout, (name, done.stderr)
        found[name] = done.stdout.replace(str(folder), "/day")
    return found


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_prints_what_it_printed(name: str, printed: dict[str, str]) -> None:
    def settled(match: re.Match[str]) -> str:
        return "TIME" if match["time"] else f"{match['digest'] or ''}DIGEST"

    text = _CHANGING.sub(settled, printed[name])
    verb = next(verb for verb in (name, name.partition(" ")[0], f"{name} FILE") if verb in documented())
    for field, names in seen(json.loads(text)).items():
        assert names == (documented()[verb].get(field) or names)  # of `render` it is what the objects have
    golden = GOLDENS / f"{name.replace('/', '-').replace(' ', '-').replace(':', '-')}.json"
    if os.environ.get("PACKYARD_WRITE") == "1":
        tiny.write(golden, text)
    assert text == golden.read_text("utf-8")


def test_every_golden_is_of_a_verb() -> None:
    assert len([*GOLDENS.iterdir()]) == len(VERBS)
