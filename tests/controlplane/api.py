"""A client of the API server: objects in, answers out, with the warnings that the server gives.

It asks for strict validation: a field that is unknown or there twice is refused, as by ``kubectl --validate=strict``.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3 import Retry

Object = dict[str, Any]

_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_PATIENCE = 300  # seconds, on a busy machine
_STRICT = {"fieldValidation": "Strict", "fieldManager": "packyard-tests"}
#: A server that does not list a kind yet, which a test has just defined, says when to ask again; all clients do.
_AGAIN = Retry(_PATIENCE, connect=0, read=False, other=0, allowed_methods=None, raise_on_status=False)


@dataclass(frozen=True)
class Answer:
    """What the server says to one request: ``refusal`` is its message, empty where it accepted."""

    request: str
    status: int
    body: Object
    warnings: tuple[str, ...]

    @property
    def refusal(self) -> str:
        return "" if self.status < 400 else f"{self.request}: {self.body.get('message', self.status)}"

    def about(self, what: str) -> Answer:
        """Return the answer with ``what`` in place of the request's path."""
        return replace(self, request=what)

    def expect_done(self) -> Object:
        """Return the body of an accepted request."""
        assert not self.refusal, self.refusal
        return self.body


@dataclass(frozen=True)
class Resource:
    """What the server knows of one kind of object."""

    path: str
    name: str
    namespaced: bool
    verbs: frozenset[str]


@dataclass
class Api:
    """The server whose ``kubeconfig`` lies in ``folder``, spoken to by its administrator, or by him as ``user``."""

    folder: Path
    user: str = ""
    resources: dict[tuple[str, str], Resource] = field(default_factory=dict)

    def __post_init__(self) -> None:
        config = json.loads((self.folder / "kubeconfig").read_text())
        self.server = config["clusters"][0]["cluster"]["server"]
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.mount("https://", HTTPAdapter(max_retries=_AGAIN))
        self.session.verify = config["clusters"][0]["cluster"]["certificate-authority"]
        self.session.headers["Authorization"] = f"Bearer {config['users'][0]['user']['token']}"
        if self.user:
            self.session.headers["Impersonate-User"] = self.user

    def is_ready(self) -> bool:
        """Say whether the server answers, and that it is ready."""
        try:
            return self.session.get(f"{self.server}/readyz").status_code == 200
        except requests.ConnectionError:
            return False

    def create_namespace(self, level: str) -> str:
        """Create a namespace that enforces a level of Pod Security, and warns of workloads that break it."""
        name = f"test-{secrets.token_hex(4)}"
        labels = {f"pod-security.kubernetes.io/{mode}": level for mode in ("enforce", "warn")}
        self.create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        ).expect_done()
        return name

    def print(self, namespace: str, line: str) -> None:
        """Have every pod of a namespace, which need not be there yet, print a line."""
        file = self.folder / f"{namespace}.log"
        file.write_text(f"2026-01-01T00:00:00.000000000Z stdout F {line}\n")
        spec = {"selector": {"matchNamespaces": [namespace]}, "logs": [{"logsFile": str(file)}]}
        item = {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "ClusterLogs", "metadata": {"name": namespace}}
        self.create({**item, "spec": spec}).expect_done()
        # kwok looks in a copy, and would say that there is no log.
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node"}}
        port = self.read(node).expect_done()["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
        address = f"https://127.0.0.1:{port}/containerLogs/{namespace}/any/any"
        wait(lambda: [] if self.session.get(address).status_code == 200 else [f"no log in {namespace}"])

    def create(self, item: Object, namespace: str = "", *, dry_run: bool = False) -> Answer:
        """Create an object; with ``dry_run`` everything is done but storing it."""
        path = self.path(item["apiVersion"], item["kind"], namespace)
        return self._request("POST", path, _options(dry_run), body=item)

    def create_all(self, objects: Sequence[Object], namespace: str = "") -> None:
        """Create objects; TrainJobs last, and each again until Trainer knows of its runtime."""
        for item in (item for item in objects if item["kind"] != "TrainJob"):
            self.create(item, namespace).expect_done()
        for item in (item for item in objects if item["kind"] == "TrainJob"):
            wait(partial(self._refusals, item, namespace))

    def _refusals(self, item: Object, namespace: str) -> list[str]:
        refusal = self.create(item, namespace).refusal
        return [refusal] if refusal else []

    def apply(self, item: Object, namespace: str = "", *, dry_run: bool = False) -> Answer:
        """Apply an object on the server's side, which also refuses lists that name an item twice."""
        options = {**_options(dry_run), "force": "true"}
        return self._request("PATCH", self._own_path(item, namespace), options, body=item, patch="apply-patch+yaml")

    def merge(self, item: Object, namespace: str = "", *, subresource: str = "") -> Answer:
        """Change an object by those fields of it that ``item`` has."""
        path = self._own_path(item, namespace) + (f"/{subresource}" if subresource else "")
        return self._request("PATCH", path, _STRICT, body=item, patch="merge-patch+json")

    def read(self, item: Object, namespace: str = "") -> Answer:
        """Read the object that ``item`` names."""
        return self._request("GET", self._own_path(item, namespace))

    def delete(self, item: Object, namespace: str = "") -> Answer:
        """Delete an object, and in the background what it owns, as kubectl does."""
        return self._request("DELETE", self._own_path(item, namespace), {"propagationPolicy": "Background"})

    def list(self, api_version: str, kind: str, namespace: str = "") -> list[Object]:
        """Return all objects of a kind."""
        return self._items(api_version, kind, self._request("GET", self.path(api_version, kind, namespace)))

    def _items(self, api_version: str, kind: str, answer: Answer) -> list[Object]:
        return [{"apiVersion": api_version, "kind": kind, **item} for item in answer.expect_done()["items"]]

    def everything(self, namespace: str) -> Iterator[Object]:
        """Yield all objects of a namespace but Events."""
        self._discover()
        seen = set()
        for (api_version, kind), resource in self.resources.items():
            if resource.namespaced and "list" in resource.verbs and kind != "Event":
                answer = self._request("GET", self.path(api_version, kind, namespace))
                # 404: another test's kind, which it deleted since
                for item in self._items(api_version, kind, answer) if answer.status != 404 else ():
                    if item["metadata"]["uid"] not in seen:  # one group may be served in several versions
                        seen.add(item["metadata"]["uid"])
                        yield item

    def serves(self, api_version: str, kind: str) -> bool:
        """Say whether the server lists a kind now."""
        if (api_version, kind) not in self.resources:
            self._discover()
        return (api_version, kind) in self.resources

    def path(self, api_version: str, kind: str, namespace: str = "") -> str:
        """Return the path under which objects of a kind are listed and created."""
        assert self.serves(api_version, kind), f"nothing serves {kind} of {api_version}"
        resource = self.resources[api_version, kind]
        inside = f"/namespaces/{namespace}" if resource.namespaced and namespace else ""
        return f"{resource.path}{inside}/{resource.name}"

    def _own_path(self, item: Object, namespace: str) -> str:
        return f"{self.path(item['apiVersion'], item['kind'], namespace)}/{item['metadata']['name']}"

    def _discover(self) -> None:
        for root in ("/api", "/apis"):
            found = self._request("GET", root, accept=_DISCOVERY).expect_done()
            self.resources.update(_resources(root, found))

    def _request(
        self,
        method: str,
        path: str,
        options: Mapping[str, str] | None = None,
        *,
        body: Object | None = None,
        patch: str = "json",
        accept: str = "application/json",
    ) -> Answer:
        headers = {"Accept": accept, "Content-Type": f"application/{patch}"}
        response = self.session.request(
            method, self.server + path, params=options, headers=headers, data=None if body is None else json.dumps(body)
        )
        given = ", ".join(response.raw.headers.getlist("Warning"))
        is_json = "json" in response.headers["Content-Type"]  # the path of a kind that is not there answers in words
        found = response.json() if is_json else {"message": response.text}
        warnings = tuple(re.sub(r"\\(.)", r"\1", text) for text in _WARNING.findall(given))
        return Answer(f"{method} {path}", response.status_code, found, warnings)


def wait(left: Callable[[], Sequence[str]]) -> None:
    """Return when ``left`` finds nothing any more; what it names at the end of a long time is an error."""
    end, pause = time.monotonic() + _PATIENCE, 0.02
    while found := left():
        assert time.monotonic() < end, "\n".join(found)
        time.sleep(pause)
        pause = min(0.2, 1.5 * pause)


def await_quota(api: Api, name: str, namespace: str) -> None:
    """Return when the API server judges by a quota: it looks quotas up in a copy, which changes in their order."""
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}}
    own = f"fence-{secrets.token_hex(4)}"  # the copy may still have that of a quota before
    fence = {**quota, "metadata": {"name": own}, "spec": {"hard": {"count/leases.coordination.k8s.io": "0"}}}
    wait(lambda: [] if "used" in api.read(quota, namespace).expect_done().get("status", {}) else [f"quota {name}"])
    api.create(fence, namespace).expect_done()
    wait(lambda: [] if is_fenced(api, own, namespace) else [f"quota {name}"])
    api.delete(fence, namespace).expect_done()


def is_fenced(api: Api, fence: str, namespace: str) -> bool:
    """Say whether the server knows of what refuses all Leases of a namespace, and names itself then."""
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "none"}}
    return fence in api.create(lease, namespace, dry_run=True).refusal


def _options(dry_run: bool) -> dict[str, str]:
    return {**_STRICT, "dryRun": "All"} if dry_run else dict(_STRICT)


def _resources(root: str, discovered: Object) -> Iterator[tuple[tuple[str, str], Resource]]:
    for group in discovered["items"]:
        name = group["metadata"].get("name", "")
        for version in group["versions"]:
            api_version = f"{name}/{version['version']}" if name else version["version"]
            for item in version.get("resources", ()):
                resource = Resource(
                    path=f"{root}/{api_version}",
                    name=item["resource"],
                    namespaced=item["scope"] == "Namespaced",
                    verbs=frozenset(item["verbs"]),
                )
                yield (api_version, item["responseKind"]["kind"]), resource
