"""An admission webhook of a test, for what is created or changed in one namespace."""

import base64
import json
import secrets
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from controlplane.api import Api, Object, is_fenced, wait


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
    webhook = _webhook(api, namespace, "tests", port, resources)
    with _known(api, namespace, "Validating", {**webhook, "timeoutSeconds": seconds}):
        yield


def await_all(api: Api) -> None:
    """Return when the server asks all webhooks that it was told of: it learns of those of a kind in their order."""
    namespace = api.create_namespace("restricted")
    for kind in ("Validating", "Mutating"):
        with _known(api, namespace, kind):
            pass


@contextmanager
def _known(api: Api, namespace: str, kind: str, *webhooks: Object) -> Iterator[None]:
    """Have the server ask webhooks as long as the block runs, from its beginning to its end.

    Nothing answers for Leases, which tells when the server knows of the configuration, and that it is gone: it looks in
    a copy, where one that the namespace had before may still be.
    """
    fence = _webhook(api, namespace, f"fence-{secrets.token_hex(4)}", 1, ["leases"])
    item = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": namespace},
        "webhooks": [*webhooks, fence],
    }
    api.create(item).expect_done()
    try:
        wait(lambda: [] if is_fenced(api, fence["name"], namespace) else ["the webhook is not known yet"])
        yield
    finally:
        api.delete(item).expect_done()
        wait(lambda: ["the webhook is still asked"] if is_fenced(api, fence["name"], namespace) else [])


def _webhook(api: Api, namespace: str, name: str, port: int, resources: Sequence[str]) -> Object:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": list(resources)}
    bundle = base64.b64encode((api.folder / "apiserver.crt").read_bytes()).decode()
    return {
        "name": f"{name}.packyard.example",
        "clientConfig": {"url": f"https://127.0.0.1:{port}", "caBundle": bundle},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
