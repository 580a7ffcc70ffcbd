"""The smallest workspace: a base ``one`` and a package ``p``; and the command line in this process."""

from __future__ import annotations

import contextlib
import io
import shutil
import tarfile
from pathlib import Path

from packyard.cli import main

TREES = Path(__file__).with_name("trees")


def text(path: str) -> str:
    """Return a file of tests/trees/."""
    return (TREES / path).read_text()


def read_tree(name: str) -> dict[str, str]:
    """Return the files of a tree of tests/trees/ by their paths."""
    root = TREES / name
    return {file.relative_to(root).as_posix(): file.read_text() for file in sorted(root.rglob("*")) if file.is_file()}


def untar(file: Path | str, folder: Path | str = ".") -> None:
    """Untar a bundle as Python does; Debian's 3.11.2 has no filter for that."""
    shutil.unpack_archive(file, folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


FILES = read_tree("workspace")
POD = text("pod.yaml")


def workspace(folder: Path) -> Path:
    """Write it."""
    for path, text in FILES.items():
        write(folder / path, text)
    return folder


def another(root: Path, name: str) -> None:
    """Copy the package ``p`` under another name, with an object of its own."""
    folder = Path(shutil.copytree(root / "packages/p", root / "packages" / name))
    patch = f"{{patch: '[{{op: replace, path: /metadata/name, value: {name}}}]', target: {{kind: ConfigMap}}}}"
    replace(folder / "package.yaml", "base: one", f"base: one, patches: [{patch}]")


def write(file: Path, text: str) -> None:
    """Write a file, and the folders above it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def replace(file: Path, old: str, new: str) -> None:
    """Replace a text of a file, which has to be there."""
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def run(*words: object) -> tuple[int, str, str]:
    """Run a command line here, and return its exit code, and what it printed on stdout and stderr."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main.main([str(word) for word in words])
    return code, *(stream.buffer.getvalue().decode("utf-8", "surrogateescape") for stream in (out, err))


def composing(out: str) -> str:
    """Return what the findings of lint say of what does not compose, as `build` says it; else all of them."""
    found = [line for line in out.splitlines(keepends=True) if "[does-not-compose]" in line]
    bare = (line.replace("error: ", "", 1).replace(" [does-not-compose]", "") for line in found)
    return "".join(f"error: {line}" for line in bare) or out


def refused(*words: object) -> str:
    """Run a command line that has to be refused, and return what it says."""
    code, out, err = run(*words)
    assert code == 1, err
    return composing(out) if words[0] == "lint" and out else err
