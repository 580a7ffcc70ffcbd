#!/usr/bin/python3
"""Stands where the image has its program, or the framework that a program of ours imports and then gets no further.

It notes what it was given, in a file of ``/.records``, and ends.

A rank of mpirun joins the others through the real Open MPI, and adds up the numbers of all. A server answers on the
ports that ``/.records/ports`` names until it is told to stop, but not for a script that only has it note what it was
given. While there is ``/.records/hold``, nothing ends.
"""

import ctypes
import http.server
import json
import os
import pwd
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
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    return {
        "argv": sys.argv,
        "environment": dict(os.environ),
        "hostname": socket.gethostname(),
        "cwd": str(Path.cwd()),
        "user": os.getuid(),
        "group": os.getgid(),
        "groups": sorted(os.getgroups()),
        "name": user_name(),
        "capabilities": [status[name].strip("0\n") for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
        "no_new_privileges": status["NoNewPrivs"] == "1",
        "writable": {folder: writable(folder) for folder in folders()},
        "session_dir": os.environ.get("PMIX_SERVER_TMPDIR"),
        "mpi": add_ranks() if "OMPI_COMM_WORLD_RANK" in os.environ else None,
    }


def user_name():
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return None


def folders():
    named = [
        os.environ.get(name) for name in ("HOME", "OUTPUT_DIR", "DATASET_DIR", "MODEL_DIR", "MODEL_BASE_PATH", "TMPDIR")
    ]
    return ["/", "/usr", "/etc", "/tmp", "/dev/shm", *(folder for folder in named if folder)]


def writable(folder):
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError as error:
        return error.strerror


def add_ranks():
    mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
    world, integer, add = (
        ctypes.byref(ctypes.c_char.in_dll(mpi, f"ompi_{name}")) for name in ("mpi_comm_world", "mpi_int", "mpi_op_sum")
    )
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


def serve(ports):
    ending = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ending)  # from the first answer on they end it, and are not lost
    for port in ports:
        server = http.server.ThreadingHTTPServer(("", port), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    signal.sigwait(ending)


def leave_result():
    """Leave what a run is asked for, where it is asked for something."""
    name = os.environ.get("RESULT_FILE")
    if name:
        (Path(os.environ["OUTPUT_DIR"]) / name.replace("*", "1")).write_text(os.environ["RESULT_TEXT"] or "result")


def main():
    if __name__ != "__main__" and "OUTPUT_DIR" in os.environ:  # programs of ours make it, for others it is there
        Path(os.environ["OUTPUT_DIR"]).mkdir(parents=True, exist_ok=True)
    noted = record()
    name = f"{noted['hostname']}-{os.environ.get('OMPI_COMM_WORLD_RANK', os.getpid())}"
    unfinished = RECORDS / name
    unfinished.write_text(json.dumps(noted))
    unfinished.rename(RECORDS / f"{name}.json")
    print(f"record of {name}", flush=True)
    leave_result()
    while (RECORDS / "hold").exists():
        time.sleep(0.05)
    ports_file = RECORDS / "ports"
    if ports_file.exists() and Path(sys.argv[0]).name != "note.py":
        serve(json.loads(ports_file.read_text()))


main()
sys.exit(0)  # where it is imported, too
