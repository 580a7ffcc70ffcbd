"""Hostile bundles and workspaces, each made from a number; and commands on them, watched for what they take and touch.

python tests/hostiletrees.py     answers a line of JSON, [words, folder], with one: [exit code, stderr, seconds, MiB]
"""

import hashlib
import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import tiny
from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import build
from packyard.core.bundle.manifest import Manifest
from packyard.core.errors import InputError

#: What one command may take: seconds of processor time, and MiB of memory.
SECONDS, MEMORY = 2.0, 256
_PATIENCE = 60  # seconds that a command may take by the clock, on a busy machine


class Watched:
    """A command line that answers for itself: each command runs in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, words: list[str], folder: Path) -> tuple[int, str, float, float]:
        """Run a command in a folder; return exit code, stderr, seconds of processor time and MiB of memory."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps([words, str(folder)]), file=self._process.stdin, flush=True)
        code, said, seconds, memory = json.loads(self._process.stdout.readline())
        return code, said, seconds, memory


@contextmanager
def watched(folder: Path) -> Iterator[Watched]:
    """Start the process that commands are forked from; state and cache are below ``folder``."""
    from tiny import environment

    env = environment(XDG_STATE_HOME=f"{folder}/state", XDG_CACHE_HOME=f"{folder}/cache", HOME=f"{folder}/home")
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as process:
        yield Watched(process)
        assert process.stdin
        process.stdin.close()


def _serve() -> None:
    for line in sys.stdin:
        words, folder = json.loads(line)
        print(json.dumps(_forked(words, folder)), flush=True)


def _forked(words: list[str], folder: str) -> list[object]:
    import resource
    import tempfile

    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as out:
        child = os.fork()
        if not child:
            os.chdir(folder)
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            for stream, number in ((out, 1), (said, 2)):
                os.dup2(stream.fileno(), number)
            from packyard.cli.main import main

            code = main(words)
            sys.stdout.flush()
            sys.stderr.flush()
            peak = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
            os.lseek(1, 0, os.SEEK_SET)
            os.ftruncate(1, 0)
            os.write(1, json.dumps([code, time.process_time(), int(peak[1]) / 1024 if peak else 0]).encode())
            os._exit(0)
        ends = time.monotonic() + _PATIENCE
        while not os.waitpid(child, os.WNOHANG)[0]:
            if time.monotonic() > ends:
                os.kill(child, 9)
                os.waitpid(child, 0)
                return [-9, "it hangs", _PATIENCE, 0]
            time.sleep(0.002)
        out.seek(0)
        said.seek(0)
        text = said.read().decode("utf-8", "replace")
        answer = out.read()
        code, seconds, memory = json.loads(answer) if answer.startswith(b"[") else (-1, 0, 0)
        return [code, text, seconds, memory]


def snapshot(folder: Path, *, but: tuple[str, ...] = ()) -> dict[str, object]:
    """Return what is below a folder, every name with its kind, mode, time and bytes; ``but`` for some at its top."""
    found: dict[str, object] = {}
    for path, folders, names in os.walk(os.fsencode(folder)):
        if path == os.fsencode(folder):
            folders[:] = [name for name in folders if os.fsdecode(name) not in but]
        for name in (*folders, *names):
            file = Path(os.fsdecode(path), os.fsdecode(name))
            state = file.lstat()
            held: object = file.readlink() if file.is_symlink() else None
            if stat.S_ISREG(state.st_mode) and state.st_size < 1 << 20:
                held = file.read_bytes()
            found[str(file)] = (state.st_mode, state.st_nlink, state.st_size, held)
    return found


# Texts

DEEP = "[" * 150 + "]" * 150
ALIASES = "a0: &a0 {x: y}\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
MERGES = "a0: &a0 {x: {y: z}}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}, k{n}: *a{n - 1}}}\n" for n in range(1, 400))
#: What may stand in the place of any text.
ODD_TEXTS = (
    *("", "null", "{}", "[]", "~", "true", "-1", "1e999", "0x", ".nan", "*a", "&a *a", "!!binary x", "!x y", "<<", "|"),
    *("? x", "../../../victim", "/etc/passwd", ".", "..", "/", "a/../../../../victim", "link", "pipe", '"a\\0b"'),
    *('"\\e]0;T\\a"', "x" * 5000, DEEP, "{a: &b [*b]}", "[a, [b, {c: d}]]", "'*'", "(a+)+$", "[", "a{1000}{1000}"),
    *("\u202e", "one", "p", "ConfigMap", "https://example.invalid/x", "git::x", "file:///etc/passwd", "${A}"),
)  # fmt: skip
#: What may stand in the place of a whole file.
ODD_FILES = (
    *("", "\n" * 100_000, "#\n" * 100_000, "---\n" * 20_000, "\0", "\ufeff", "\t", "a: b\n" * 20_000, "- " * 150, ": "),
    *(ALIASES, MERGES, "a: " + DEEP, "[" * 100_000, "{a: " * 5000, "a: [" + "b," * 300_000 + "]", "? " * 3000),
    *("&a [*a]", "&a {a: *a}", "x" * (1 << 21), "- a\n" * 50_000, "%YAML 9.9\n---\na", "a: |\n" + "  x\n" * 100_000),
    *("kind: Kustomization", "[a", "'", '"\\ud800"', "a: 'b\n", "!!python/object/apply:os.system [id]", "..."),
)
KUSTOMIZATIONS = (
    "resources: [.]",
    "resources: [..]",
    "resources: [../one]",
    "resources: [../two, ../two/.]",
    "resources: [cm.yaml, cm.yaml]",
    "resources: [cm.yaml]\ncomponents: [../one]",
    "resources: [cm.yaml]\npatches: [{target: {kind: '(a|aa)+$'}, patch: '- {op: add, path: /data/b, value: c}'}]",
    "resources: [cm.yaml]\npatches: [{target: {kind: '['}, patch: '- {op: add, path: /data/b, value: c}'}]",
    "resources: [cm.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n"
    + "".join(f"    - {{op: copy, from: /data, path: /data/c{n}}}\n" for n in range(40)),
    "resources: [cm.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n"
    + "".join(f"    - {{op: copy, from: /data, path: /data{'/c' * n}}}\n" for n in range(1, 40)),
    "resources: [" + "cm.yaml, " * 5000 + "]",
    "resources: [" + ", ".join(f"gone{n}.yaml" for n in range(5000)) + "]",
    "configMapGenerator: [{name: a, files: [/etc/passwd, ../../victim], options: {disableNameSuffixHash: true}}]",
    "namespace: " + "x" * 1000 + "\nresources: [cm.yaml]",
    "resources: [cm.yaml]\nnamespace: [a]",
    "generators: [x]",
    "".join(f"k{n}: x\n" for n in range(2000)),
)  # fmt: skip
TEMPLATES = (
    "{{ ''.__class__.__mro__ }}",
    "{% include '/etc/passwd' %}",
    "{% for a in range(100000000) %}x{% endfor %}",
    "{{ 'x' * 1000000000 }}",
    "{{ version.__init__.__globals__ }}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{{ gone }}",
    "{% if %}",
    "{{ [1] | batch(0) }}",
    "\x1b]0;T\x07",
)


def disturb(dice: random.Random, folder: Path) -> str:
    """Change one thing of a tree of YAML files, somewhere, somehow; say what."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size < 1 << 20)
    file = dice.choice(files)
    kind = dice.choice(("text", "text", "text", "line", "file", "kustomization", "thing", "name", "template"))
    where = f"{kind} of {file.relative_to(folder)}"
    if kind == "text":
        text = file.read_text("utf-8", "replace")
        spans = [match.span(1) for match in re.finditer(r"(?<=[-:,\[{] )([^\s,\[\]{}][^,\n\[\]{}]*)", text)] or [
            (0, len(text))
        ]
        start, end = dice.choice(spans)
        odd = dice.choice(ODD_TEXTS)
        file.write_text(text[:start] + odd + text[end:], "utf-8", "replace")
        return f"{where}: {text[start:end][:30]!r} -> {odd[:40]!r}"
    if kind == "line":
        lines = file.read_text("utf-8", "replace").splitlines(keepends=True) or ["\n"]
        place = dice.randrange(len(lines))
        lines[place : place + dice.randrange(2)] = dice.choices(lines, k=dice.choice((0, 1, 2, 3000)))
        file.write_text("".join(lines))
    elif kind == "file":
        odd = dice.choice(ODD_FILES)
        file.write_text(odd, "utf-8", "replace")
        where += f": {odd[:30]!r}"
    elif kind == "kustomization":
        file = dice.choice([path for path in files if path.name == "kustomization.yaml"] or files)
        added = dice.choice(KUSTOMIZATIONS)
        keys = set(re.findall(r"^(\w+):", added, re.MULTILINE))
        lines = [line for line in file.read_text("utf-8", "replace").splitlines() if line.partition(":")[0] not in keys]
        file.write_text("\n".join([*(line for line in lines if not line.startswith((" ", "-"))), added, ""]))
        where += f": {added[:50]!r}"
    elif kind == "thing":
        where += f": {_replace_by_thing(dice, file, folder)}"
    elif kind == "name":
        bad = dice.choice((*(".git/config", ".packyard-journal", "CON", "a:b", "\udcff"), "a" * 255, "d/" * 40 + "x"))
        tiny.write(file.parent / bad, "x")
        where += f": {bad[:20]!r}"
    else:
        tiny.write(folder / "packages/p/docs/title.md", dice.choice(TEMPLATES))
    return where


def _replace_by_thing(dice: random.Random, file: Path, folder: Path) -> str:
    """Put something else in the place of a file, or of a folder above it."""
    things: dict[str, Callable[[], object]] = {
        "a link out": lambda: file.symlink_to(folder.parent / "victim"),
        "a link to nothing": lambda: file.symlink_to("gone"),
        "a link to itself": lambda: file.symlink_to(file.name),
        "a link to a folder": lambda: file.symlink_to(folder.parent),
        "a pipe": lambda: os.mkfifo(file),
        "a folder": file.mkdir,
        "a hole": lambda: [file.touch(), os.truncate(file, 1 << 40)],
        "nothing": lambda: None,
        "a device": lambda: file.symlink_to("/dev/zero"),
    }
    what = dice.choice(sorted(things))
    file.unlink()
    things[what]()
    return what


def workspace(seed: int, folder: Path) -> str:
    """Make a workspace with a few faults; say which."""
    dice = random.Random(seed)
    root = tiny.workspace(folder)
    if dice.random() < 0.7:
        tiny.write(root / "bases/one/cm.yaml", tiny.POD)
        tiny.write(root / "bases/one/Krmfile", KRMFILE)
        tiny.write(root / "overlays/o/kustomization.yaml", OVERLAY)
        tiny.write(root / "overlays/o/p.yaml", "- {op: add, path: /spec/volumes, value: []}\n")
        tiny.replace(root / "packages/p/package.yaml", "base: one}", "base: one, overlays: [o], setters: {A: b}}")
        tiny.write(root / "packages/_shared/shared.yaml", "apiVersion: packyard/v1\nkind: Shared\nchoices: {}\n")
    tiny.write(root / "bases/two/kustomization.yaml", tiny.FILES["bases/one/kustomization.yaml"].replace("cm", "two"))
    tiny.write(root / "bases/two/two.yaml", tiny.FILES["bases/one/cm.yaml"])
    return "; ".join(disturb(dice, root) for _ in range(dice.choice((1, 1, 2, 3))))


OVERLAY = """\
# Adds something.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- path: p.yaml
  target: {kind: Job}
"""
KRMFILE = tiny.text("hostile/Krmfile")
USE_CASE = {
    "uses/one/kustomization.yaml": tiny.FILES["bases/one/kustomization.yaml"].replace("[cm.yaml]", "\n- cm.yaml"),
    "uses/one/cm.yaml": 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  a: a # {"$openapi":"A"}\n',
    "uses/one/Krmfile": KRMFILE,
    "uses/one/options/o/kustomization.yaml": OVERLAY.replace("p.yaml", "p.json6902"),
    "uses/one/options/o/p.json6902": "- {op: add, path: /spec/x, value: []}\n",
    "README.md": "# p\n",
}


def bundle(seed: int, folder: Path) -> str:
    """Make a channel ``ch`` with the bundle p@1.0, of whose files something is not as it should be; say what."""
    dice = random.Random(seed)
    tree = folder / "made"
    tiny.write_all(tree, USE_CASE)
    said = [disturb(dice, tree) for _ in range(dice.choice((1, 1, 2)))]
    paths = (path for path in sorted(tree.rglob("*")) if path.is_file() and not path.is_symlink())
    files = {str(path.relative_to(tree)): path.read_bytes() for path in paths if path.stat().st_size < 1 << 24}
    shutil.rmtree(tree)
    described = Manifest(name="p", version="1.0", model={}, use_cases={})
    try:
        data = build(described, [Member(path=name, data=data) for name, data in files.items()]).data
    except InputError:  # a name that no bundle may have
        data = build(described, []).data
    release = folder / "ch/1.0"
    tiny.write(release / "p.tar.gz", data)
    (release / "p.tar.gz.sha256").write_text(f"{hashlib.sha256(data).hexdigest()}  p.tar.gz\n")
    return "; ".join(said)


if __name__ == "__main__":
    _serve()
