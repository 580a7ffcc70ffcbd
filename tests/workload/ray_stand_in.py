#!/usr/bin/python3
"""Stands for Ray, the program and the module: a head that knows how many joined it, for as long as they are there."""

import os
import socket
import sys
import threading

PORT = 6379


def init(**_):
    """Find the head on this machine, as ray.init does."""
    nodes()


def nodes():
    with socket.create_connection(("127.0.0.1", PORT), 5) as head:
        head.sendall(b"count\n")
        return [{"Alive": True}] * int(head.makefile().readline())


def lead(port):
    """Listen in the background: the head itself is the first."""
    listener = socket.create_server(("", port))
    if os.fork():
        return
    joined = []
    while True:
        connection = listener.accept()[0]
        threading.Thread(target=attend, args=(connection, joined), daemon=True).start()


def attend(connection, joined):
    with connection, connection.makefile() as said:
        wanted = said.readline()
        if wanted == "count\n":
            connection.sendall(f"{len(joined) + 1}\n".encode())
        elif wanted == "join\n":  # and no look whether somebody listens
            joined.append(connection)
            said.readline()  # until it is gone
            joined.remove(connection)


def join(address):
    """Stay as long as the head is there."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), 5) as head:
        head.settimeout(None)
        head.sendall(b"join\n")
        head.recv(1)
    sys.exit("the head is gone")


def main(words):
    flags = dict(word.partition("=")[::2] for word in words)
    assert words[0] == "start", words
    assert int(flags["--object-store-memory"]) < 4 << 30, words  # the size of /dev/shm
    assert flags["--node-ip-address"] == socket.gethostbyname(socket.gethostname()), words
    if "--head" in flags:
        lead(int(flags["--port"]))
    else:
        assert "--block" in flags, words
        join(flags["--address"])


if __name__ == "__main__":
    main(sys.argv[1:])
