"""An admission webhook of a test, for what is created or changed in one namespace."""

from __future__ import annotations

import base64
import json
import secrets
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from controlplane.api import Api, Object, wait

_GROUP = "admissionregistration.k8s.io/v1"


@contextmanager
def asked(api: Api, namespace: str, resources: Sequence[str], refuse: Callable[[Object], str]) -> Iterator[None]:
    """Have the server ask ``refuse`` about objects as long as the block runs: it is given the request, and returns why
    it is refused, or an empty text.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
            reason = refuse(request)
            response = {"uid": request["uid"], "allowed": not reason, "status": {"message": reason}}
            body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(api.folder / "apiserver.crt", api.folder / "apiserver.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        with registered(api, namespace, resources, server.server_port):
            yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def registered(api: Api, namespace: str, resources: Sequence[str], port: int, *, seconds: int = 30) -> Iterator[None]:
    """Have the server ask whatever listens at a port, or nothing, as long as the block runs, and wait so long."""
    item = _configuration(api, namespace, resources, f"https://127.0.0.1:{port}")
    webhook, fence = item["webhooks"]
    webhook["timeoutSeconds"] = seconds
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "none"}}

    def is_asked() -> bool:
        return fence["name"] in api.create(lease, namespace, dry_run=True).refusal

    api.create(item).expect_done()
    try:
        wait(lambda: [] if is_asked() else ["the webhook is not known yet"])
        yield
    finally:
        api.delete(item).expect_done()
        wait(lambda: ["the webhook is still asked"] if is_asked() else [])


def _configuration(api: Api, namespace: str, resources: Sequence[str], url: str) -> Object:
    webhook = {
        "name": "tests.packyard.example",
        "clientConfig": {
            "url": url,
            "caBundle": base64.b64encode((api.folder / "apiserver.crt").read_bytes()).decode(),
        },
        "rules": [
            {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": list(resources)}
        ],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    # Nothing answers for Leases, which tells when the server knows of the configuration, and that it is gone: it looks
    # in a copy, where one that the namespace had before may still be.
    (rule,) = webhook["rules"]
    fence = {
        **webhook,
        "name": f"fence-{secrets.token_hex(4)}.packyard.example",
        "clientConfig": {**webhook["clientConfig"], "url": "https://127.0.0.1:1"},
        "rules": [{**rule, "resources": ["leases"]}],
    }
    return {
        "apiVersion": _GROUP,
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": namespace},
        "webhooks": [webhook, fence],
    }
