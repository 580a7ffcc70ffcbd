"""Copies files between /tmp and the buckets of a run that has these for its storage, by pyarrow; else does nothing.

Keys are those of the Secret; without them pyarrow looks for a role, as the SDK of S3 does.
"""

import fcntl
import os
import pathlib

from pyarrow import fs

LOCAL = pathlib.Path("/tmp")
GIVEN = os.environ
S3 = None
if "trainingbucket" in GIVEN:
    scheme, _, endpoint = GIVEN["endpoint_url"].partition("://")
    S3 = fs.S3FileSystem(
        access_key=GIVEN.get("aws_access_key_id"),
        secret_key=GIVEN.get("aws_secret_access_key"),
        session_token=GIVEN.get("aws_session_token"),
        region=GIVEN["region_name"],
        scheme=scheme,
        endpoint_override=endpoint,
    )


def place(bucket, path):
    return f"{GIVEN[bucket]}/{path.relative_to(LOCAL).as_posix()}"


def fetch(bucket, folder):
    """Copy what a bucket has for a directory of /tmp, less what is there; the processes of a pod do so one by one."""
    if not S3:
        return
    with (LOCAL / "bucket.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        selector = fs.FileSelector(place(bucket, folder), recursive=True, allow_not_found=True)
        for found in S3.get_file_info(selector):
            file = folder / pathlib.PurePosixPath(found.path).relative_to(selector.base_dir)
            if found.is_file and not (file.is_file() and file.stat().st_size == found.size):
                file.parent.mkdir(parents=True, exist_ok=True)
                fs.copy_files(found.path, str(file), source_filesystem=S3)


def store(path):
    """Copy a file, or all of a directory, to where the bucket of the results has its path of /tmp."""
    for file in sorted(file for file in [path, *path.rglob("*")] if file.is_file()) if S3 else ():
        fs.copy_files(str(file), place("trainingbucket", file), destination_filesystem=S3)


def remove(folder):
    if S3:
        S3.delete_dir(place("trainingbucket", folder))
