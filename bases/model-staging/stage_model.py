"""Copies a model to a directory of the storage: what is there under its name is whole, and never changes.

MODEL_SOURCE says from where:

    hf://OWNER/NAME[@REVISION]        a repository of Hugging Face, or of HF_ENDPOINT
    s3://BUCKET/PREFIX                a bucket of AWS, or of S3_ENDPOINT
    oci://REGISTRY/NAME:TAG           an artifact with a layer for each file, as oras pushes them; or NAME@sha256:DIGEST

Files that match STAGE_IGNORE are left out, programs (*.py) too unless TRUST_REMOTE_CODE is set, and of two layouts of
one model the second. Files come into STAGE_DIR.partial; a Job that is started again goes on where the one before ended.
Each is compared with the digest that its source knows. When all are there, the directory is renamed to STAGE_DIR.
"""

import base64
import errno
import fcntl
import fnmatch
import hashlib
import hmac
import http.client
import json
import os
import re
import shutil
import signal
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ENV = os.environ
ABOUT = ".staged"  # in a directory: where it came from
LARGEST_ANSWER = 64 * 2**20  # of what is no file of the model
CHUNK = 2**20
WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
HINTS = {
    401: "does the Secret model-credentials have what the source asks for?",
    403: "may the Secret model-credentials read this?",
    404: "is MODEL_SOURCE right?",
    412: "it has changed meanwhile: start again",
    errno.ENOSPC: "use a larger claim",
    errno.EDQUOT: "use a larger claim",
    errno.EACCES: "USER_ID, GROUP_ID and FS_ID may not write there",
    errno.EROFS: "use a claim that can be written",
}
BROKEN = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)
secret = {}  # the header that lets us read from the source


class File(NamedTuple):
    """One file of a model; ``digest`` is ALGORITHM:HEX, and ``tag`` that of an object, where the source knows one."""

    path: str
    size: int
    digest: str
    url: str
    tag: str = ""


class StageError(Exception):
    """What no further try can mend."""


def main():
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
    try:
        stage(ENV["MODEL_SOURCE"], Path(ENV["STAGE_DIR"]))
    except StageError as error:
        sys.exit(f"stage_model: {error}")
    except OSError as error:
        sys.exit(f"stage_model: {error}: {HINTS.get(error.errno, 'the storage failed')}")


def stage(source, target):
    """Copy a model, unless it is there."""
    if holds(target, source):
        return
    partial, lock_file = (target.with_name(f"{target.name}.{each}") for each in ("partial", "lock"))
    target.parent.mkdir(parents=True, exist_ok=True)
    with lock_file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two Jobs for one model: the second finds what the first has made
        if holds(target, source):
            return
        version, found = list_files(source)
        files, left = choose(source, found)
        begin(partial, {"source": source, "version": version, **({"left": left} if left else {})})
        fetch_all(files, partial)
        os.sync()  # after a crash there is no name without its content
        partial.rename(target)
        lock_file.unlink()
    print(f"{target} holds {source}, version {version}: {len(files)} files")


def holds(target, source):
    """Say whether the model is there; refuse another one."""
    if not target.exists():
        return False
    about = read_about(target)
    if about.get("source") != source:
        what = f"holds {about['source']}" if about else "was not made by this program"
        raise StageError(f"{target} {what}: delete it, or set another MODEL_PATH for {source}")
    print(f"{target} holds {source}, version {about['version']}")
    return True


def begin(partial, about):
    """Keep what an earlier Job left of this version; delete what is of another."""
    if partial.exists() and read_about(partial) != about:
        shutil.rmtree(partial)
    partial.mkdir(exist_ok=True)
    (partial / ABOUT).write_text(json.dumps(about), encoding="utf-8")


def read_about(folder):
    try:
        return json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}


def list_files(source):
    """Return the version of a source, and its files."""
    scheme, _, rest = source.partition("://")
    known = {"hf": list_hub, "s3": list_bucket, "oci": list_artifact}
    if scheme not in known or not rest:
        raise StageError(f"MODEL_SOURCE is {source}: it begins with {', '.join(f'{each}://' for each in known)}")
    return known[scheme](rest)


def choose(source, files):
    """Return the files to copy, and the names of weights and programs among those that are left out."""
    passed, trusts = ENV.get("STAGE_IGNORE", "").split(), ENV.get("TRUST_REMOTE_CODE", "").lower()
    passed += ["*.py"] if trusts in ("", "0", "false", "no") else []
    taken = leave_out(files, passed)
    if {"model.safetensors", "model.safetensors.index.json"} & {file.path for file in taken}:
        taken = leave_out(taken, ["consolidated*.safetensors", "consolidated*.json"])  # Mistral's layout of the same
    left = sorted(file.path for file in {*files} - {*taken} if file.path.endswith((*WEIGHTS, ".py")))
    if left:
        print(f"left out: {', '.join(left)}", flush=True)
    if not taken or len({file.path for file in taken}) < len(taken):
        raise StageError(f"{source} has {'two files of one name' if taken else 'no files'}")
    for file in taken:
        parts = PurePosixPath(file.path).parts
        if not parts or parts[0] in ("/", ABOUT) or ".." in parts or "\0" in file.path:
            raise StageError(f"{source} has a file {file.path!r}, which would lie outside of the model")
    if not any(file.path.endswith(WEIGHTS) for file in taken):
        has = f": STAGE_IGNORE leaves out {left[0]}" if left else ""
        raise StageError(f"{source} has no weights that servers read{has}. Name a source with .safetensors")
    return taken, left


def leave_out(files, patterns):
    return [file for file in files if not any(fnmatch.fnmatchcase(file.path, each) for each in patterns)]


def fetch_all(files, partial):
    there = sum(path.stat().st_size for path in partial.rglob("*") if path.is_file())
    needed, free = sum(file.size for file in files) - there, shutil.disk_usage(partial).free
    if needed > free:
        raise StageError(f"{needed} more bytes are needed, and the storage has {free}: use a larger claim")
    if unknown := [file.path for file in files if not file.digest]:
        print(f"no digests of {len(unknown)} files, {unknown[0]} for one: their sizes are checked", flush=True)
    with ThreadPoolExecutor(int(ENV.get("STAGE_THREADS", "4"))) as pool:
        list(pool.map(lambda file: fetch(file, partial / file.path), files))  # the first error ends it


def fetch(file, target):
    """Copy a file, from where an earlier try ended."""
    if target.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    for _ in range(2):  # what an earlier Job left may be of no use
        persist(lambda: receive(file, part), file.path, lambda: size_of(part))
        if (found := measure(part, file)) == file.digest:
            part.rename(target)
            return
        part.unlink()
    raise StageError(f"{file.path} is {found}, and its source says {file.digest}: it was changed on its way")


def receive(file, part):
    """Add what a file lacks."""
    have = size_of(part) if size_of(part) <= file.size else 0
    if have == file.size and part.exists():
        return
    print(f"{file.path}: from {have} of {file.size} bytes", flush=True)
    headers = {"If-Match": file.tag} if file.tag else {}
    if have:
        headers["Range"] = f"bytes={have}-"
    with send(file.url, headers) as answer, part.open("ab" if have and answer.status == 206 else "wb") as out:
        while chunk := answer.read(CHUNK):
            out.write(chunk)
            if out.tell() > file.size:
                raise StageError(f"{file.path} is longer than the {file.size} bytes that its source says")
        out.flush()
        os.fsync(out.fileno())
    if size_of(part) < file.size:
        raise http.client.HTTPException("the connection broke off")


def size_of(part):
    return part.stat().st_size if part.exists() else 0


def measure(path, file):
    """Return the digest of a file, as its source spells it; nothing where that has none."""
    algorithm = file.digest.partition(":")[0]
    if not algorithm:
        return ""
    digest = hashlib.sha1(b"blob %d\0" % file.size) if algorithm == "git" else hashlib.new(algorithm)
    with path.open("rb") as opened:
        while chunk := opened.read(CHUNK):
            digest.update(chunk)
    return f"{algorithm}:{digest.hexdigest()}"


# Hugging Face


def list_hub(name):
    """Return the commit of a repository, and its files: large ones by SHA-256, others by what git calls them."""
    base = ENV.get("HF_ENDPOINT") or "https://huggingface.co"
    repository, _, revision = name.partition("@")
    if ENV.get("HF_TOKEN"):
        secret["Authorization"] = f"Bearer {ENV['HF_TOKEN']}"
    commit = ask(f"{base}/api/models/{repository}/revision/{quote(revision or 'main')}", json.loads)[0]["sha"]
    if revision != commit:
        print(f"not pinned: to copy the same again, set MODEL_SOURCE to hf://{repository}@{commit}", flush=True)
    url, files = f"{base}/api/models/{repository}/tree/{commit}?recursive=true", []
    while url:
        listed, headers = ask(url, json.loads)
        for each in (each for each in listed if each["type"] == "file"):
            large = each.get("lfs")
            digest = f"sha256:{large['oid'].removeprefix('sha256:')}" if large else f"git:{each['oid']}"
            address = f"{base}/{repository}/resolve/{commit}/{quote(each['path'])}"
            files.append(File(each["path"], each["size"], digest, address))
        following = re.search(r'<([^>]*)>; *rel="next"', headers.get("Link", ""))
        url = following and following[1]
        if url and not url.startswith(f"{base}/"):  # it would be given the token
            raise StageError(f"{base} continues its list at {url}")
    return commit, files


# S3


def list_bucket(name):
    """Return what tells this content from another, and the files; their digests are in SHA256SUMS, if that is there."""
    bucket, _, folder = name.rstrip("/").partition("/")
    endpoint = ENV.get("S3_ENDPOINT") or f"https://s3.{ENV['AWS_REGION']}.amazonaws.com"
    base, prefix = f"{endpoint.rstrip('/')}/{bucket}", f"{folder}/" if folder else ""
    found = {key.removeprefix(prefix): (key, *about) for key, *about in list_objects(base, prefix)}
    sums = {}
    if "SHA256SUMS" in found:
        lines = ask(f"{base}/{quote(prefix)}SHA256SUMS", bytes.decode)[0].splitlines()
        pairs = (line.split(maxsplit=1) for line in lines if line)
        sums = {path.lstrip("*").removeprefix("./"): f"sha256:{digest}" for digest, path in pairs}
        if lacking := sorted(set(sums) - set(found)):
            raise StageError(f"s3://{name} has no {lacking[0]}, which its SHA256SUMS names")
    files = [
        File(path, size, sums.get(path, ""), f"{base}/{quote(key)}", tag or "")
        for path, (key, size, tag) in sorted(found.items())
    ]
    return hashlib.sha256(json.dumps(sorted(found.items())).encode()).hexdigest(), files


def list_objects(base, prefix):
    """Yield key, size and tag of the objects of a bucket below a prefix."""
    words = {"list-type": "2", "prefix": prefix}
    while True:
        query = urllib.parse.urlencode(sorted(words.items()), quote_via=urllib.parse.quote, safe="")
        root = ask(f"{base}?{query}", xml.etree.ElementTree.fromstring)[0]
        for each in root.findall("{*}Contents"):
            key, size, tag = (each.findtext(f"{{*}}{name}") for name in ("Key", "Size", "ETag"))
            if not key.endswith("/"):
                yield key, int(size), tag
        if not (token := root.findtext("{*}NextContinuationToken")):
            return
        words["continuation-token"] = token


def sign(url):
    """Return the headers that sign a GET by AWS' signature of version 4, where there is a key."""
    if not ENV.get("AWS_ACCESS_KEY_ID"):
        return {}
    parts, stamp = urllib.parse.urlsplit(url), time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    nothing = hashlib.sha256(b"").hexdigest()
    headers = {"host": parts.netloc, "x-amz-content-sha256": nothing, "x-amz-date": stamp}
    if ENV.get("AWS_SESSION_TOKEN"):
        headers["x-amz-security-token"] = ENV["AWS_SESSION_TOKEN"]
    given, names = [f"{name}:{value}" for name, value in headers.items()], ";".join(headers)
    request = "\n".join(["GET", parts.path or "/", parts.query, *given, "", names, nothing])
    scope = f"{stamp[:8]}/{ENV['AWS_REGION']}/s3/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = f"AWS4{ENV['AWS_SECRET_ACCESS_KEY']}".encode()
    for word in (*scope.split("/"), text):
        key = hmac.digest(key, word.encode(), "sha256")
    who = f"Credential={ENV['AWS_ACCESS_KEY_ID']}/{scope}"
    return {**headers, "Authorization": f"AWS4-HMAC-SHA256 {who},SignedHeaders={names},Signature={key.hex()}"}


# OCI


def list_artifact(name):
    """Return the digest of a manifest, and the files that are its layers."""
    host, _, rest = name.partition("/")
    found = re.fullmatch(r"([a-z0-9._/-]+)(?:@(sha256:[0-9a-f]{64})|:([A-Za-z0-9_][A-Za-z0-9._-]*))", rest)
    if not found:
        raise StageError(f"MODEL_SOURCE is oci://{name}: it ends with :TAG or @sha256:DIGEST")
    repository, digest, tag = found.groups()
    scheme = "http" if host.partition(":")[0] in ("localhost", "127.0.0.1") else "https"
    base = f"{scheme}://{host}/v2/{repository}"
    kind = "application/vnd.oci.image.manifest.v1+json"
    data, manifest = ask(f"{base}/manifests/{digest or tag}", lambda data: (data, json.loads(data)), Accept=kind)[0]
    version = f"sha256:{hashlib.sha256(data).hexdigest()}"
    if digest and version != digest:
        raise StageError(f"the manifest of oci://{name} is {version}")
    if "layers" not in manifest:
        raise StageError(f"oci://{name} is not the manifest of an artifact")
    return version, [read_layer(layer, base) for layer in manifest["layers"]]


def read_layer(layer, base):
    words, kind = layer.get("annotations") or {}, layer["mediaType"]
    path = words.get("org.opencontainers.image.title") or words.get("org.cncf.model.filepath")
    # oras calls each file a tar, and says which ones are; model-spec says what it means.
    if not path or words.get("io.deis.oras.content.unpack") == "true" or (".cncf.model." in kind and ".tar" in kind):
        raise StageError(f"layer {layer['digest']} ({kind}) is not a file: push each file as a layer")
    if not re.fullmatch(r"sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})", layer["digest"]):
        raise StageError(f"layer {path} has the digest {layer['digest']}")
    return File(path, layer["size"], layer["digest"], f"{base}/blobs/{layer['digest']}")


def authorize(challenge, url):
    """Return the header that a registry asks for, as docker does: a password, or a token for one."""
    user, password = ENV.get("REGISTRY_USER", ""), ENV.get("REGISTRY_PASSWORD", "")
    basic = {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()} if user else {}
    words = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    if not challenge.lower().startswith("bearer") or "realm" not in words:
        return basic
    if user and url.startswith("https:") and not words["realm"].startswith("https:"):
        raise StageError(f"{url} wants the password at {words['realm']}, which anybody could read on its way")
    repository = re.search("/v2/(.+)/(manifests|blobs)/", url)[1]
    asked = {"service": words.get("service", ""), "scope": f"repository:{repository}:pull"}
    with open_url(f"{words['realm']}?{urllib.parse.urlencode(asked)}", basic) as answer:
        token = json.loads(answer.read(LARGEST_ANSWER))
    return {"Authorization": f"Bearer {token.get('token') or token['access_token']}"}


# HTTP


def quote(path):
    return urllib.parse.quote(path, safe="/~")


def ask(url, parse, **headers):
    """Return an answer, parsed, and its headers."""

    def read():
        with send(url, headers) as answer:
            return answer.read(LARGEST_ANSWER), answer.headers

    data, found = persist(read, url)
    try:
        return parse(data), found
    except (ValueError, SyntaxError) as error:
        raise StageError(f"{url} answers with what cannot be read: {data[:100]!r}") from error


def persist(work, name, progress=lambda: 0):
    """Return what some work gives. It is tried again; tries count as long as they bring no progress."""
    tried, most = 0, int(ENV.get("STAGE_TRIES", "6"))
    while True:
        have = progress()
        try:
            return work()
        except BROKEN as error:
            code = getattr(error, "code", 500)
            if code < 500 and code not in (408, 429):
                raise StageError(f"{name}: {error}: {HINTS.get(code, 'no other try would help')}") from error
            tried = 1 if progress() > have else tried + 1
            if tried == most:
                raise StageError(f"{name}: {error} ({most} tries)") from error
            print(f"{name}: {error}, trying again", file=sys.stderr, flush=True)
        time.sleep(min(60, float(ENV.get("STAGE_PAUSE", "2")) ** tried))


def send(url, headers):
    """Open a URL. A registry is asked for a token where it wants one, or the last one has run out."""
    if ENV["MODEL_SOURCE"].startswith("s3:"):
        return open_url(url, {**headers, **sign(url)})
    try:
        return open_url(url, {**headers, **secret})
    except urllib.error.HTTPError as error:
        if error.code != 401 or not ENV["MODEL_SOURCE"].startswith("oci:"):
            raise
        secret.update(authorize(error.headers.get("WWW-Authenticate", ""), url))
        return open_url(url, {**headers, **secret})


def open_url(url, headers):
    """Open a URL. Where it leads elsewhere, the header with the secret is left out."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise StageError(f"{url} is not a web address")
    request = urllib.request.Request(url)
    for name, value in headers.items():
        request.add_header(name, value) if name != "Authorization" else request.add_unredirected_header(name, value)
    return urllib.request.urlopen(request, timeout=60)


if __name__ == "__main__":
    main()
