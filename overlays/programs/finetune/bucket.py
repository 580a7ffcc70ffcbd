"""Copies files between /tmp and the buckets of a run that has these for its storage, by pyarrow."""

import fcntl
import os
import pathlib

from pyarrow import fs

LOCAL = pathlib.Path("/tmp")
GIVEN = os.environ
SCHEME, _, ENDPOINT = GIVEN["endpoint_url"].partition("://")
S3 = fs.S3FileSystem(
    access_key=GIVEN["aws_access_key_id"],
    secret_key=GIVEN["aws_secret_access_key"],
    region=GIVEN["region_name"],
    scheme=SCHEME,
    endpoint_override=ENDPOINT,
)


def place(bucket, path):
    return f"{GIVEN[bucket]}/{path.relative_to(LOCAL).as_posix()}"


def fetch(bucket, folder):
    """Copy what a bucket has for a directory of /tmp, less what is there; the processes of a pod do so one by one."""
    with (LOCAL / "bucket.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        selector = fs.FileSelector(place(bucket, folder), recursive=True, allow_not_found=True)
        for found in S3.get_file_info(selector):
            file = folder / pathlib.PurePosixPath(found.path).relative_to(selector.base_dir)
            if found.is_file and not (file.is_file() and file.stat().st_size == found.size):
                file.parent.mkdir(parents=True, exist_ok=True)
                fs.copy_files(found.path, str(file), source_filesystem=S3)


def store(file):
    """Copy a file to where the bucket of the results has its path of /tmp."""
    fs.copy_files(str(file), place("trainingbucket", file), destination_filesystem=S3)


def store_all(folder):
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        store(file)


def remove(folder):
    S3.delete_dir(place("trainingbucket", folder))
