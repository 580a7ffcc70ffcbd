"""Copies a model of Hugging Face to the storage, and gives a copied model its name when it is whole.

    stage_model.py copy      copies hf://OWNER/NAME[@REVISION] to STAGE_DIR.partial, by huggingface_hub
    stage_model.py finish    checks STAGE_DIR.partial, and renames it to STAGE_DIR
    stage_model.py           does both

The options from-bucket and from-registry copy by rclone and oras in place of the first. A Job goes on with what is of
the source and version in `.staged`. What has its name is whole. Without a lock, the first of two Jobs renames it.
"""

import fnmatch
import glob
import hashlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path, PurePosixPath

ENV = os.environ
ABOUT = ".staged"
WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
INDEX = "model.safetensors.index.json"


class StageError(Exception):
    """What stops the Job, in words for its log."""


def main():
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
    try:
        for step in sys.argv[1:] or ["copy", "finish"]:
            {"copy": copy, "finish": finish}[step](ENV["MODEL_SOURCE"], Path(ENV["STAGE_DIR"]))
    except (StageError, OSError) as error:
        sys.exit(f"stage_model: {error}")


def copy(source, target):
    """Copy a repository of Hugging Face, unless its model is there: finish says what is."""
    if not source.startswith("hf://"):
        options = "enable from-bucket for s3://, gs:// and az://, from-registry for oci://"
        raise StageError(f"MODEL_SOURCE is {source}: {options}")
    if target.exists():
        return
    name, _, revision = source.removeprefix("hf://").partition("@")
    try:
        commit = fetch(source, name, revision or "main", partial_of(target))
    except StageError:
        raise
    except Exception as error:  # what huggingface_hub raises differs by version
        status = getattr(getattr(error, "response", None), "status_code", 0)
        said = str(error) if status else f"{type(error).__name__}: {error}"
        hint = "\nDoes the Secret model-credentials have an HF_TOKEN that may read it?" if status in (401, 403) else ""
        raise StageError(f"{said}{hint}") from error
    if revision != commit:
        print(f"not pinned: to copy the same again, set MODEL_SOURCE to hf://{name}@{commit}", flush=True)


def fetch(source, name, revision, partial):
    """Copy what servers read, and compare it with the Hub's digests; return the commit."""
    from huggingface_hub import HfApi, snapshot_download  # in the image of every server
    from huggingface_hub.hf_api import RepoFile

    hub = HfApi()
    commit = hub.model_info(name, revision=revision).sha
    found = hub.list_repo_tree(name, recursive=True, revision=commit)
    sizes = {entry.path: entry.size for entry in found if isinstance(entry, RepoFile)}
    files, left = choose(source, sizes)
    begin(partial, {"source": source, "version": commit, **({"left": left} if left else {})})
    check_room(partial, sum(sizes[path] for path in files))
    snapshot_download(name, revision=commit, local_dir=partial, allow_patterns=[glob.escape(path) for path in files])
    for path in [path for path in files if not (partial / path).is_file()]:
        raise StageError(f"{source} lists {path}, and did not send it")
    spoiled = hub.verify_repo_checksums(name, revision=commit, local_dir=partial).mismatches
    for mismatch in spoiled:
        (partial / mismatch["path"]).unlink()  # the next try copies it again
    if spoiled:
        raise StageError(f"{spoiled[0]['path']} is not what {source} says: it was changed on its way")
    return commit


def choose(source, found):
    """Return the files to copy, and the weights and programs that are left out."""
    files = leave_out(found, f"{ENV.get('STAGE_IGNORE', '')} {ENV.get('STAGE_PROGRAMS', '*.py')}".split())
    if {"model.safetensors", INDEX} & {*files}:
        files = leave_out(files, ["consolidated*"])  # Mistral's layout of the same
    left = sorted(path for path in {*found} - {*files} if path.endswith((*WEIGHTS, ".py")))
    if left:
        print(f"left out: {', '.join(left)}", flush=True)
    for path in files:
        if path == ABOUT or path.startswith("/") or ".." in PurePosixPath(path).parts:
            raise StageError(f"{source} has a file {path!r}, which would lie outside of the model")
    check_weights(source, files, left)
    return files, left


def leave_out(files, patterns):
    return [path for path in files if not any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)]


def check_weights(source, files, left=()):
    if not any(path.endswith(WEIGHTS) for path in files):
        ignored = f": STAGE_IGNORE leaves out {left[0]}" if left else ""
        raise StageError(f"{source} has no weights that servers read{ignored}. Name a source with .safetensors")


def begin(partial, about):
    """Keep what an earlier Job copied of this version; delete what is of another."""
    if partial.exists() and read_about(partial) != about:
        shutil.rmtree(partial)
    partial.mkdir(parents=True, exist_ok=True)
    (partial / ABOUT).write_text(json.dumps(about), encoding="utf-8")


def check_room(partial, size):
    lacking = size - sum(path.stat().st_size for path in partial.rglob("*") if path.is_file())
    if lacking > (free := shutil.disk_usage(partial).free):
        raise StageError(f"{lacking} more bytes are needed, and the storage has {free}: use a larger claim")


def finish(source, target):
    """Give a model that was copied whole its name, and let every user read it."""
    partial = partial_of(target)
    if holds(target, source):
        return
    if read_about(partial).get("source") != source:
        raise StageError(f"nothing was copied to {partial}: see the log of the container copy")
    shutil.rmtree(partial / ".cache", ignore_errors=True)  # huggingface_hub's notes
    files = sorted(path for path in partial.rglob("*") if path.is_file() and path.name != ABOUT)
    check_weights(source, [str(path.relative_to(partial)) for path in files])
    check_shards(partial)
    check_sums(partial)
    for path in [partial, *partial.rglob("*")]:
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    os.sync()  # after a crash there is no name without its content
    try:
        partial.rename(target)
    except OSError:
        if not holds(target, source):
            raise
    print(f"{target} holds {source}, version {read_about(target)['version']}: {len(files)} files")


def check_shards(model):
    index = model / INDEX
    for name in sorted(set(json.loads(index.read_bytes())["weight_map"].values())) if index.is_file() else ():
        if not (model / name).is_file():
            raise StageError(f"{name} was not copied, and {INDEX} names it")


def check_sums(model):
    """Compare the files with SHA256SUMS, where their source has one."""
    sums = model / "SHA256SUMS"
    for line in sums.read_text(encoding="utf-8").splitlines() if sums.is_file() else ():
        digest, path = line.split(maxsplit=1)
        file = model / path.lstrip("*")
        if not file.is_file():
            raise StageError(f"{path} was not copied, and SHA256SUMS names it")
        with file.open("rb") as opened:
            if hashlib.file_digest(opened, "sha256").hexdigest() != digest:
                file.unlink()  # the next try copies it again
                raise StageError(f"{path} is not what SHA256SUMS says: it was changed on its way")


def holds(target, source):
    """Say whether the model is there; refuse another one."""
    if not target.exists():
        return False
    about = read_about(target)
    left = [] if ENV.get("STAGE_PROGRAMS", "*.py") else [path for path in about.get("left", ()) if path.endswith(".py")]
    if left or about.get("source") != source:
        what = " without ".join([f"holds {about['source']}", *left[:1]]) if about else "was not made by staging"
        raise StageError(f"{target} {what}: delete it, or set another MODEL_PATH for {source}")
    print(f"{target} holds {source}, version {about['version']}")
    return True


def read_about(folder):
    try:
        return json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}


def partial_of(target):
    return target.with_name(f"{target.name}.partial")


if __name__ == "__main__":
    main()
