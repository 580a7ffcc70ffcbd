"""Copies a model to a directory of the storage: what is there under its name is whole, and never changes.

MODEL_SOURCE says from where:

    hf://OWNER/NAME[@REVISION]        a repository of Hugging Face, or of HF_ENDPOINT
    s3://BUCKET/PREFIX                a bucket of AWS, or of S3_ENDPOINT
    oci://REGISTRY/NAME:TAG           an artifact with a layer for each file, as oras pushes them; or NAME@sha256:DIGEST

Files come into STAGE_DIR.partial; a Job that is started again goes on where the one before ended. Each is compared with
the digest that its source knows. When all are there, the directory is renamed to STAGE_DIR.
"""

import base64
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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ENV = os.environ
ABOUT = ".staged"  # in a complete directory: where it came from
LARGEST_ANSWER = 64 * 2**20  # of what is no file of the model
CHUNK = 2**20
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
TITLES = ("org.opencontainers.image.title", "org.cncf.model.filepath")
SECRET = "the Secret model-credentials"
HINTS = {
    401: f"does {SECRET} have what the source asks for?",
    403: f"may {SECRET} read this?",
    404: "is MODEL_SOURCE right?",
    412: "it has been changed: start again",
}
BROKEN = (urllib.error.URLError, http.client.HTTPException, OSError)


class File(NamedTuple):
    """One file of a model; ``digest`` is ALGORITHM:HEX, or empty where the source knows none.

    ``renew`` brings ``headers`` up to date, by what a server asks for that takes them no longer.
    """

    path: str
    size: int
    digest: str
    url: str
    headers: dict
    renew: Callable | None = None


class StageError(Exception):
    """What cannot be mended by another try."""


def main():
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
    try:
        stage(ENV["MODEL_SOURCE"], Path(ENV["STAGE_DIR"]))
    except StageError as error:
        sys.exit(f"stage_model: {error}")
    except PermissionError as error:
        sys.exit(f"stage_model: {error}: USER_ID, GROUP_ID and FS_ID may not write there")


def stage(source, target):
    """Copy a model, unless it is there."""
    if holds(target, source):
        return
    partial = target.with_name(f"{target.name}.partial")
    partial.mkdir(parents=True, exist_ok=True)
    with (partial / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two Jobs for one model: the second finds what the first has made
        if holds(target, source):
            return
        version, files = list_files(source)
        begin(partial, {"source": source, "version": version})
        fetch_all(files, partial)
        sync(partial)
        partial.rename(target)
        sync(target.parent)
        (target / ".lock").unlink()
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
    """Take over what an earlier Job left of this version; delete what is of another."""
    if read_about(partial) != about:
        for path in partial.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != ".lock":
                path.unlink()
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
    version, files = known[scheme](rest)
    passed = ENV.get("STAGE_IGNORE", "").split()
    files = [file for file in files if not any(fnmatch.fnmatchcase(file.path, pattern) for pattern in passed)]
    if not files or len({file.path for file in files}) < len(files):
        raise StageError(f"{source} has {'two files of one name' if files else 'no files'}")
    for file in files:
        parts = PurePosixPath(file.path).parts
        if not parts or file.path.startswith("/") or ".." in parts or parts[0] in (ABOUT, ".lock") or "\0" in file.path:
            raise StageError(f"{source} has a file {file.path!r}, which would lie outside of the model")
    return version, files


def fetch_all(files, partial):
    there = sum(path.stat().st_size for path in partial.rglob("*") if path.is_file())
    needed = sum(file.size for file in files) - there
    free = shutil.disk_usage(partial).free
    if needed > free:
        raise StageError(f"{needed} more bytes are needed, and the storage has {free}: use a larger claim")
    if unknown := [file.path for file in files if not file.digest]:
        print(f"no digests of {len(unknown)} files, {unknown[0]} for one: their sizes are checked", flush=True)
    with ThreadPoolExecutor(int(ENV.get("STAGE_THREADS", "4"))) as pool:
        for done in [pool.submit(fetch, file, partial / file.path) for file in files]:
            try:
                done.result()
            except StageError:
                pool.shutdown(cancel_futures=True)
                raise


def fetch(file, target):
    """Copy a file, from where an earlier try ended."""
    if target.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    for _ in range(2):  # what an earlier Job left may be of no use
        receive(file, part)
        if (found := measure(part, file)) == (file.digest or found):
            sync(part)
            part.rename(target)
            return
        part.unlink()
    raise StageError(f"{file.path} is {found}, and its source says {file.digest}: it was changed on its way")


def receive(file, part):
    """Fill a file up to its size; tries count as long as no byte comes."""
    tried, most = 0, int(ENV.get("STAGE_TRIES", "6"))
    while (have := part.stat().st_size if part.exists() else 0) != file.size or not part.exists():
        try:
            receive_once(file, part, have if have < file.size else 0)
        except urllib.error.HTTPError as error:
            if error.code == 401 and file.renew and tried < most - 1:
                file.renew(error.headers.get("WWW-Authenticate", ""))
            else:
                give_up(error, file.url)
            problem = error
        except BROKEN as error:
            problem = error
        else:
            continue
        tried = 1 if part.exists() and part.stat().st_size > have else tried + 1
        if tried == most:
            raise StageError(f"{file.path}: {problem} ({most} tries)")
        print(f"{file.path}: {problem}, trying again", file=sys.stderr, flush=True)
        time.sleep(min(60, float(ENV.get("STAGE_PAUSE", "2")) ** tried))


def receive_once(file, part, have):
    print(f"{file.path}: from {have} of {file.size} bytes", flush=True)
    headers = {**file.headers, **({"Range": f"bytes={have}-"} if have else {})}
    with send(file.url, headers) as answer, part.open("ab" if have and answer.status == 206 else "wb") as out:
        while chunk := answer.read(CHUNK):
            out.write(chunk)
            if out.tell() > file.size:
                raise StageError(f"{file.path} is longer than the {file.size} bytes that its source says")
    if part.stat().st_size < file.size:
        raise http.client.HTTPException("the connection broke off")


def measure(path, file):
    """Return the digest of a file, as its source spells it; nothing where that has none."""
    algorithm = file.digest.partition(":")[0]
    if not algorithm:
        return ""
    digest = hashlib.new("sha1" if algorithm == "git" else algorithm)
    if algorithm == "git":
        digest.update(b"blob %d\0" % file.size)
    with path.open("rb") as opened:
        while chunk := opened.read(CHUNK):
            digest.update(chunk)
    return f"{algorithm}:{digest.hexdigest()}"


def sync(path):
    """Have a file, or the names in a directory, on the disk before what is done next."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


# Hugging Face


def list_hub(name):
    """Return the commit of a repository, and its files: large ones by SHA-256, others by what git calls them."""
    base = ENV.get("HF_ENDPOINT") or "https://huggingface.co"
    repository, _, revision = name.partition("@")
    headers = {"Authorization": f"Bearer {ENV['HF_TOKEN']}"} if ENV.get("HF_TOKEN") else {}
    commit = ask(f"{base}/api/models/{repository}/revision/{quote(revision or 'main')}", headers)[0]["sha"]
    url, files = f"{base}/api/models/{repository}/tree/{commit}?recursive=true", []
    while url:
        listed, answer = ask(url, headers)
        for each in listed:
            if each["type"] == "file":
                large = each.get("lfs")
                digest = f"sha256:{large['oid'].removeprefix('sha256:')}" if large else f"git:{each['oid']}"
                address = f"{base}/{repository}/resolve/{commit}/{quote(each['path'])}"
                files.append(File(each["path"], each["size"], digest, address, headers))
        following = re.search(r'<([^>]*)>; *rel="next"', answer.get("Link", ""))
        url = following and same_host(following[1], base)
    return commit, files


def same_host(url, base):
    if urllib.parse.urlsplit(url).netloc != urllib.parse.urlsplit(base).netloc:
        raise StageError(f"{base} continues its list at {url}")
    return url


# S3


def list_bucket(name):
    """Return what tells this content from another, and the files; their digests are in SHA256SUMS, if that is there."""
    bucket, _, folder = name.rstrip("/").partition("/")
    endpoint = ENV.get("S3_ENDPOINT") or f"https://s3.{ENV['AWS_REGION']}.amazonaws.com"
    base, prefix = f"{endpoint.rstrip('/')}/{bucket}", f"{folder}/" if folder else ""
    found = {key.removeprefix(prefix): (key, *about) for key, *about in list_objects(base, prefix)}
    sums = {}
    if "SHA256SUMS" in found:
        lines = ask_bytes(f"{base}/{quote(prefix)}SHA256SUMS", {})[0].decode().splitlines()
        pairs = (line.split(maxsplit=1) for line in lines if line)
        sums = {path.lstrip("*").removeprefix("./"): f"sha256:{digest}" for digest, path in pairs}
        if lacking := sorted(set(sums) - set(found)):
            raise StageError(f"s3://{name} has no {lacking[0]}, which its SHA256SUMS names")
    files = [
        File(path, size, sums.get(path, ""), f"{base}/{quote(key)}", {"If-Match": tag} if tag else {})
        for path, (key, size, tag) in sorted(found.items())
    ]
    return hashlib.sha256(json.dumps(sorted(found.items())).encode()).hexdigest(), files


def list_objects(base, prefix):
    """Yield key, size and tag of the objects of a bucket below a prefix."""
    more = {}
    while True:
        words = {**more, "list-type": "2", "prefix": prefix}
        query = urllib.parse.urlencode(sorted(words.items()), quote_via=urllib.parse.quote, safe="")
        root = xml.etree.ElementTree.fromstring(ask_bytes(f"{base}?{query}", {})[0])
        for each in root.findall("{*}Contents"):
            key, size, tag = (each.findtext(f"{{*}}{name}") for name in ("Key", "Size", "ETag"))
            if not key.endswith("/"):
                yield key, int(size), tag
        if not (token := root.findtext("{*}NextContinuationToken")):
            return
        more = {"continuation-token": token}


def sign(url, headers):
    """Return the headers of a GET with a signature of version 4, where there is a key."""
    if not ENV.get("AWS_ACCESS_KEY_ID"):
        return headers
    parts, stamp = urllib.parse.urlsplit(url), time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    nothing, region = hashlib.sha256(b"").hexdigest(), ENV["AWS_REGION"]
    signed = {"host": parts.netloc, "x-amz-content-sha256": nothing, "x-amz-date": stamp}
    if ENV.get("AWS_SESSION_TOKEN"):
        signed["x-amz-security-token"] = ENV["AWS_SESSION_TOKEN"]
    names = ";".join(signed)
    given = [f"{name}:{value}" for name, value in signed.items()]
    lines = ["GET", parts.path or "/", parts.query, *given, "", names, nothing]
    scope = f"{stamp[:8]}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256("\n".join(lines).encode()).hexdigest()])
    key = f"AWS4{ENV['AWS_SECRET_ACCESS_KEY']}".encode()
    for word in (*scope.split("/"), text):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    who = f"Credential={ENV['AWS_ACCESS_KEY_ID']}/{scope}"
    del signed["host"]
    return {
        **headers,
        **signed,
        "Authorization": f"AWS4-HMAC-SHA256 {who},SignedHeaders={names},Signature={key.hex()}",
    }


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
    url, accept, allowed = f"{base}/manifests/{digest or tag}", {"Accept": MANIFEST}, {}

    def renew(challenge):
        allowed.update(authorize(challenge, base, repository))

    try:
        data = ask_bytes(url, accept, {401})[0]
    except urllib.error.HTTPError as error:
        renew(error.headers.get("WWW-Authenticate", ""))
        data = ask_bytes(url, {**accept, **allowed})[0]
    version = f"sha256:{hashlib.sha256(data).hexdigest()}"
    if digest and version != digest:
        raise StageError(f"the manifest of oci://{name} is {version}")
    layers = json.loads(data).get("layers")
    if not layers:
        raise StageError(f"oci://{name} is not the manifest of an artifact, or has no layers")
    return version, [read_layer(layer, base, allowed, renew) for layer in layers]


def read_layer(layer, base, headers, renew):
    words, kind = layer.get("annotations") or {}, layer["mediaType"]
    path = next((words[title] for title in TITLES if words.get(title)), "")
    # oras calls each file a tar, and says which ones are; model-spec says what it means.
    if not path or words.get("io.deis.oras.content.unpack") == "true" or (".cncf.model." in kind and ".tar" in kind):
        raise StageError(f"layer {layer['digest']} ({kind}) is not a file: push each file as a layer")
    if not re.fullmatch(r"sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})", layer["digest"]):
        raise StageError(f"layer {path} has the digest {layer['digest']}")
    return File(path, layer["size"], layer["digest"], f"{base}/blobs/{layer['digest']}", headers, renew)


def authorize(challenge, base, repository):
    """Return the header that a registry asks for, as docker does: a password, or a token for one."""
    user, password = ENV.get("REGISTRY_USER", ""), ENV.get("REGISTRY_PASSWORD", "")
    basic = {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()} if user else {}
    words = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    if not challenge.lower().startswith("bearer") or "realm" not in words:
        return basic
    if user and base.startswith("https:") and not words["realm"].startswith("https:"):
        raise StageError(f"{base} wants the password at {words['realm']}, which anybody could read on its way")
    asked = {"service": words.get("service", ""), "scope": f"repository:{repository}:pull"}
    answer = ask(f"{words['realm']}?{urllib.parse.urlencode(asked)}", basic)[0]
    return {"Authorization": f"Bearer {answer.get('token') or answer['access_token']}"}


# HTTP


def quote(path):
    return urllib.parse.quote(path, safe="/~")


def send(url, headers):
    """Open a URL. Where it leads elsewhere, the header with the secret is left out."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise StageError(f"{url} is not a web address")
    request = urllib.request.Request(url)
    for name, value in (sign(url, headers) if ENV["MODEL_SOURCE"].startswith("s3:") else headers).items():
        request.add_header(name, value) if name != "Authorization" else request.add_unredirected_header(name, value)
    return urllib.request.urlopen(request, timeout=60)


def ask_bytes(url, headers, expected=()):
    """Return a whole answer and its headers, with further tries; errors of the ``expected`` statuses are raised."""
    most = int(ENV.get("STAGE_TRIES", "6"))
    for tried in range(1, most + 1):
        try:
            with send(url, headers) as answer:
                data = answer.read(LARGEST_ANSWER + 1)
                if len(data) > LARGEST_ANSWER:
                    raise StageError(f"{url} answers with more than {LARGEST_ANSWER} bytes")
                return data, answer.headers
        except urllib.error.HTTPError as error:
            if error.code in expected:
                raise
            give_up(error, url)
            problem = error
        except BROKEN as error:
            problem = error
        if tried < most:
            time.sleep(min(60, float(ENV.get("STAGE_PAUSE", "2")) ** tried))
    raise StageError(f"{url}: {problem} ({most} tries)")


def ask(url, headers):
    data, answer = ask_bytes(url, headers)
    try:
        return json.loads(data), answer
    except ValueError as error:
        raise StageError(f"{url} does not answer with JSON: {error}") from error


def give_up(error, url):
    """Raise an error that another try would get, too."""
    if error.code < 500 and error.code not in (408, 416, 429):
        raise StageError(f"{url}: {error.code} {error.reason}: {HINTS.get(error.code, 'no other try would help')}")


if __name__ == "__main__":
    main()
