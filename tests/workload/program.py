#!/usr/bin/python3
"""Stands where the image has its program, or the framework that a program of ours imports and then gets no further.

It notes what it was given, in a file of ``/.records``, and ends. A rank of mpirun joins the others through the real
Open MPI, and adds up the numbers of all. A server, which ``/.records/serve`` makes it, answers on the ports that its
words name until it is told to stop. ``aws`` copies one file. While there is ``/.records/hold``, nothing ends.
"""

import ctypes
import http.server
import json
import os
import pwd
import re
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

RECORDS = Path("/.records")
ELEMENTS = 65536  # of four bytes, so that neighbors on a node hand over more than fits into one message


def record():
    folders = [os.environ.get(name) for name in ("HOME", "OUTPUT_DIR", "DATASET_DIR", "MODEL_BASE_PATH")]
    return {
        "argv": sys.argv,
        "environment": dict(os.environ),
        "hostname": socket.gethostname(),
        "cwd": str(Path.cwd()),
        "user": [os.getuid(), os.getgid(), *sorted(os.getgroups())],
        "name": user_name(),
        "writable": {folder: writable(folder) for folder in ["/", "/usr", "/tmp", *filter(None, folders)]},
        "mpi": add_ranks() if "OMPI_COMM_WORLD_RANK" in os.environ else None,
    }


def user_name():
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return None


def writable(folder):
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError as error:
        return error.strerror


def add_ranks():
    mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
    names = ("mpi_comm_world", "mpi_int", "mpi_op_sum")
    world, integer, add = (ctypes.byref(ctypes.c_char.in_dll(mpi, f"ompi_{name}")) for name in names)
    rank, size = ctypes.c_int(), ctypes.c_int()
    mpi.MPI_Init(None, None)
    mpi.MPI_Comm_rank(world, ctypes.byref(rank))
    mpi.MPI_Comm_size(world, ctypes.byref(size))
    numbers, sums = (ctypes.c_int * ELEMENTS)(*([rank.value] * ELEMENTS)), (ctypes.c_int * ELEMENTS)()
    mpi.MPI_Allreduce(numbers, sums, ELEMENTS, integer, add, world)
    mpi.MPI_Finalize()
    return {"rank": rank.value, "size": size.value, "sums": sorted(set(sums))}


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()


def serve():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # from the first answer on it ends this, and is not lost
    words = re.findall(r"--\w*port[= ](\d+)", " ".join(sys.argv))
    for port in words or json.loads((RECORDS / "serve").read_text()):
        server = http.server.ThreadingHTTPServer(("", int(port)), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    signal.sigwait({signal.SIGTERM})


def main():
    name = Path(sys.argv[0]).name
    output_dir = os.environ.get("OUTPUT_DIR")
    if __name__ != "__main__" and output_dir:  # programs of ours make it, for others it is there
        Path(output_dir).mkdir(parents=True, exist_ok=True)
    noted = record()
    called = f"{noted['hostname']}-{os.environ.get('OMPI_COMM_WORLD_RANK', os.getpid())}"
    unfinished = RECORDS / called
    unfinished.write_text(json.dumps(noted))
    unfinished.rename(RECORDS / f"{called}.json")
    print(f"record of {called}", flush=True)
    if name == "aws":
        Path(sys.argv[-1], "file").write_text("content\n")
    if result := os.environ.get("RESULT_FILE"):  # what a run is asked for
        Path(output_dir, result.replace("*", "1")).write_text(os.environ["RESULT_TEXT"] or "result")
    while (RECORDS / "hold").exists():
        time.sleep(0.05)
    if (RECORDS / "serve").exists() and name not in ("aws", "note.py"):
        serve()


main()
sys.exit(0)  # where it is imported, too
