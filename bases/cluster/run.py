"""Starts one process of a TensorFlow cluster: tells it who its peers are, and ends with them. Python 3.6 or later.

    python3 run.py PROGRAM [ARGUMENT ...]

TF_CONFIG is made from what every pod of the cluster knows: CLUSTER has the roles and how many pods each has, as in
"chief=1 worker=3 ps=1"; CLUSTER_JOB, the name of this pod's Job, ends in "-" and its role, in a JobSet in "-0" behind
it; the pods have their names in the headless Service CLUSTER_SERVICE; TensorFlow listens on CLUSTER_PORT, this program
on the next port.

Pods hold on to each other by connections. Where one ends without a word, its work is lost to all: every other pod ends
its program and fails as well, so that Kubernetes starts all anew, to continue from their last checkpoint together.
When a chief is done the run is: workers and parameter servers, which serve it for ever, end as well and have succeeded.
"""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

DONE = b"done"
LOST = 75  # EX_TEMPFAIL: to be tried again
PATIENCE = 10  # seconds


class Peers:
    """The other pods of the cluster, each missing, there, done or lost."""

    def __init__(self, addresses, own, port):
        self.own = own
        self.port = port
        self.states = {address: "missing" for address in addresses if address != own}
        self.changed = threading.Condition()
        self.is_running = False
        self.is_done = threading.Event()
        self.holders = {}

    def gather(self, seconds):
        """Listen for the others and connect to each; return those that were not there in time.

        A pod is there when both connections to it are: one that ends early can then tell all others that it is done.
        """
        listener = listen(self.port)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        for address in self.states:
            threading.Thread(target=self._follow, args=(address,), daemon=True).start()
        with self.changed:
            self.is_running = self.changed.wait_for(lambda: not self._absent(), seconds)
            return self._absent()

    def those(self, state):
        """Return the addresses of the pods in one state."""
        return [address for address, found in self.states.items() if found == state]

    def tell(self):
        """Tell the others that this pod is done, and wait until they have heard it."""
        self.is_done.set()
        for thread in list(self.holders.values()):
            thread.join(PATIENCE)

    def _absent(self):
        return [address for address, state in self.states.items() if state == "missing" or address not in self.holders]

    def _set(self, address, state):
        with self.changed:
            self.states[address] = state
            self.changed.notify_all()

    def _accept(self, listener):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=self._hold, args=(connection,), daemon=True).start()

    def _hold(self, connection):
        keep_alive(connection)
        with connection, contextlib.suppress(OSError):  # whoever listened may be gone, and needs no word
            address = connection.makefile().readline().strip()
            with self.changed:
                self.holders[address] = threading.current_thread()
                self.changed.notify_all()
            self.is_done.wait()
            connection.sendall(DONE)

    def _follow(self, address):
        """Hold on to a pod; one that goes before all were there was left over from before, and is waited for again."""
        while True:
            received = b""
            try:
                with socket.create_connection((address, self.port), timeout=5) as connection:
                    keep_alive(connection)
                    connection.settimeout(None)
                    connection.sendall(f"{self.own}\n".encode())
                    self._set(address, "there")
                    received = connection.makefile("rb").read(len(DONE))
            except OSError as error:
                if self.is_running:
                    print(f"run.py: {address}: {error}", file=sys.stderr)
            if received == DONE or self.is_running:
                self._set(address, "done" if received == DONE else "lost")
                return
            self._set(address, "missing")
            time.sleep(0.5)


def listen(port):
    """Listen on all addresses of this pod, of both families where there are two."""
    try:
        listener = socket.socket(socket.AF_INET6)
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    except OSError:  # a node without IPv6
        listener = socket.socket(socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", port))
    listener.listen(128)
    return listener


def keep_alive(connection):
    """Notice within half a minute that a node is gone."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 4)):
        if hasattr(socket, option):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def cluster(environment):
    """Return the host names of the cluster by role, in the order of their indexes, and the role of this pod."""
    sizes = dict(word.split("=") for word in environment["CLUSTER"].split())
    job, service = environment["CLUSTER_JOB"], environment["CLUSTER_SERVICE"]
    found = re.fullmatch(f"(.*-)({'|'.join(sizes)})(-0)?", job)
    if found is None:
        sys.exit(f"run.py: the Job {job} has no role of the cluster {environment['CLUSTER']}")
    before, own, behind = found.groups("")
    hosts = {
        role: [f"{before}{role}{behind}-{index}.{service}" for index in range(int(size))]
        for role, size in sizes.items()
        if int(size)
    }
    return hosts, own


def tf_config(hosts, role, index, port):
    """Return TF_CONFIG: every task's address, and which of them this is."""
    addresses = {name: [f"{host}:{port}" for host in found] for name, found in hosts.items()}
    return json.dumps({"cluster": addresses, "task": {"type": role, "index": index}})


def end(process):
    """End a program that serves nobody any more; it may say its last words."""
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(environment, program):
    """Run the program among its peers; return its exit code, or that of a cluster that lost one."""
    hosts, role = cluster(environment)
    index, port = int(environment["JOB_COMPLETION_INDEX"]), int(environment["CLUSTER_PORT"])
    own, chiefs = hosts[role][index], set(hosts.get("chief", ()))
    peers = Peers([host for found in hosts.values() for host in found], own, port + 1)
    missing = peers.gather(float(environment["CLUSTER_WAIT_SECONDS"]))
    if missing:
        print(f"run.py: not there: {', '.join(missing)}", file=sys.stderr)
        return LOST
    if not environment.get("S3_ENDPOINT"):  # TensorFlow takes an empty one for an address
        environment.pop("S3_ENDPOINT", None)
    process = subprocess.Popen(program, env={**environment, "TF_CONFIG": tf_config(hosts, role, index, port)})
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())

    def is_over():
        return not chiefs.isdisjoint(peers.those("done"))

    while process.poll() is None:
        with peers.changed:
            peers.changed.wait(0.5)
        if is_over():
            end(process)
        elif peers.those("lost"):
            print(f"run.py: lost {', '.join(peers.those('lost'))}: ending, for all to start again", file=sys.stderr)
            process.kill()
            process.wait()
            return LOST
    if process.returncode not in (0, -signal.SIGTERM):  # it may have failed only because the chief has ended
        with peers.changed:
            peers.changed.wait_for(lambda: chiefs.isdisjoint(peers.those("there")), PATIENCE)
    code = 0 if is_over() else process.returncode
    if code == 0:
        peers.tell()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(dict(os.environ), sys.argv[1:]))
