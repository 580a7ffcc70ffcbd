"""Channels to write pages for, and what a page is made of, as a browser reads it."""

import json
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import Bundle, build
from packyard.core.bundle.manifest import Manifest, ShippedUseCase
from packyard.sharing.entry import IndexEntry
from packyard.sharing.stores.directory import DirectoryStore
from sharing.examples import add_to_index
from tiny import done

CASE = "train/multi-node"
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [job.yaml]\n"
JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      containers:
      - name: main
        image: busybox:1.36
        envFrom: [{configMapRef: {name: settings}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
"""
SETTERS: Mapping[str, Mapping[str, object]] = {
    "PVC_NAME": {"description": "The claim.", "type": "string", "pattern": "^[a-z0-9.-]+$", "required": True},
    "WORKERS": {"description": "Pods.", "type": "integer", "minimum": 1, "maximum": 64, "value": "2"},
    "MODE": {"description": "How.", "type": "string", "enum": ["fast", "exact"], "value": "fast"},
    "TAGS": {"description": "Words.", "type": "array", "items": {"type": "string"}},
}  # fmt: skip


def package(
    name: str = "bert",
    version: str = "1.0",
    *,
    readme: str = "# BERT\n\nTrains BERT.\n",
    setters: Mapping[str, Mapping[str, object]] = SETTERS,
    case: str = CASE,
    **said: str,
) -> Bundle:
    """Return a package with one use case that can be built, shown and set."""
    definitions = {}
    for setter, keywords in setters.items():
        own = {key: keywords[key] for key in ("value", "required") if key in keywords}
        schema = {key: value for key, value in keywords.items() if key not in own}
        definitions[f"io.k8s.cli.setters.{setter}"] = {**schema, "x-k8s-cli": {"setter": {"name": setter, **own}}}
    krmfile = {"apiVersion": "config.k8s.io/v1alpha1", "kind": "Krmfile", "openAPI": {"definitions": definitions}}
    files = {
        "README.md": readme,
        f"{case}/Krmfile": json.dumps(krmfile),
        f"{case}/kustomization.yaml": KUSTOMIZATION,
        f"{case}/job.yaml": JOB,
        "options/queue/kustomization.yaml": "# Waits for room.\nkind: Component\n",
    }
    described = Manifest(
        name=name,
        version=version,
        model={"framework": said.get("framework", "pytorch")},
        images=(said.get("image", "busybox:1.36"),),
        use_cases={
            case: ShippedUseCase(
                setters={}, description=said.get("description", "Trains on several nodes."),
                requires=(said.get("requires", "CustomResourceDefinition mpijobs.kubeflow.org"),),
            )
        },
    )  # fmt: skip
    return build(described, [Member(path=path, data=text.encode()) for path, text in files.items()])


def channel(folder: Path, *packages: Bundle) -> Path:
    """Publish packages into a folder, unsigned, whatever they are."""
    store = DirectoryStore(folder)
    for each in packages:
        store.put(f"{each.version}/{each.name}.tar.gz", each.data)
    add_to_index(store, [IndexEntry.of(each) for each in packages])
    return folder


class Read(HTMLParser):
    """A page as it is parsed: its elements, the text outside of scripts, and what is wrong with it."""

    _VOID = frozenset({"meta", "link", "input", "br", "hr"})

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.faults: list[str] = []
        self.text = ""
        self._opened: list[str] = []
        self.feed(data.decode())
        self.faults += [f"<{each}> is not closed" for each in self._opened]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in self._VOID:
            self._opened.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self._opened or self._opened.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of each element of a kind."""
        return [about for name, about in self.elements if name == tag]

    def addresses(self) -> list[str]:
        """Return the addresses that the page loads or links to."""
        return [about[name] for _, about in self.elements for name in ("href", "src") if name in about]

    def commands(self) -> list[str]:
        """Return the commands that it composes, as they begin."""
        return [about["data-start"] for about in self.all("code") if "data-start" in about]


def written(folder: Path) -> dict[str, Read]:
    """Write the page of a channel, and return each HTML file of it as it is parsed."""
    done("web", folder)
    files = [file for file in folder.rglob("*.html") if "index" not in file.relative_to(folder).parts]
    return {file.relative_to(folder).as_posix(): Read(file.read_bytes()) for file in files}
