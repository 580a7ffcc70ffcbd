"""A kubectl without a cluster: it keeps objects in a file beside itself, and gives each Job a pod that runs.

It is copied to a folder of PATH, and knows the calls that our verbs make. What `logs` prints and what `exec` runs there
is all that a pod does.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

Object = dict[str, Any]
_STATE = Path(__file__).with_name("objects.json")
_WHEN = "2026-01-01T00:00:00Z"


def install(folder: Path) -> Path:
    """Write the program into a folder for PATH."""
    folder.mkdir()
    text = Path(__file__).read_text("utf-8")
    (folder / "kubectl").write_text(f"#!{sys.executable} -ISE\n{text}", "utf-8")
    (folder / "kubectl").chmod(0o755)
    return folder


def main() -> int:
    words = [word for word in sys.argv[1:] if not word.startswith(("--context", "--namespace", "--request-timeout"))]
    flags = dict(word.partition("=")[::2] for word in words if word.startswith("--"))
    verb, *plain = [word for word in words if not word.startswith("-")]
    objects: list[Object] = json.loads(_STATE.read_text("utf-8")) if _STATE.exists() else []
    match verb:
        case "config":
            print(json.dumps({"contexts": [{"name": "test", "context": {"user": "ann", "namespace": "ml"}}]}))
        case "auth":
            print("ann", end="")
        case "kustomize":
            _build(Path(plain[0]))
        case "get":
            _get(plain, flags, objects)
        case "apply" | "create":
            _apply(flags, objects)
            _keep(objects)
        case "delete":
            _delete(plain, flags, objects)
            _keep(objects)
        case "logs":
            print("Epoch 1/1")
            if "--follow" in flags:
                _fail(objects)
                _keep(objects)
        case "exec":
            print("here")
        case "port-forward":
            print("Forwarding", *plain)
    return 0


def _keep(objects: list[Object]) -> None:
    """Write the file in one step: others may read it."""
    written = _STATE.with_suffix(f".{os.getpid()}")
    written.write_text(json.dumps(objects), "utf-8")
    written.replace(_STATE)


def _build(folder: Path) -> None:
    lines = (folder / "kustomization.yaml").read_text("utf-8").splitlines()
    files = [line[2:] for line in lines if line.startswith("- ") and line.endswith(".yaml")]
    print("\n---\n".join((folder / file).read_text("utf-8") for file in files))


def _get(plain: list[str], flags: dict[str, str], objects: list[Object]) -> None:
    if "--raw" in flags:
        return print("{}")
    if "--filename" in flags:
        return _print([item for named in _typed() for item in objects if _key(item) == _key(named)])
    kinds = {word.partition(".")[0].lower().rstrip("s") for word in plain[0].split(",")}
    listed = [item for item in objects if item["kind"].lower() in kinds and _has(item, flags.get("--selector", ""))]
    if plain[1:]:
        listed = [item for item in listed if item["metadata"]["name"] == plain[1]]
    return _print(listed)


def _apply(flags: dict[str, str], objects: list[Object]) -> None:
    typed = _typed()
    if "--dry-run" in flags:
        stored = {_key(item): item for item in objects}
        return _print([_merged(stored.get(_key(item), {}), item) for item in typed])
    for item in typed:
        item["metadata"] |= {"namespace": "ml", "creationTimestamp": _WHEN}
        objects[:] = [each for each in objects if _key(each) != _key(item)]
        made = [item, _pod(item), _event(item)] if item["kind"] == "Job" else [item]
        objects += made
        print(_name(item))
    return None


def _merged(before: Object, after: Object) -> Object:
    return {**before, **after, "metadata": {**before.get("metadata", {}), **after["metadata"]}}


def _delete(plain: list[str], flags: dict[str, str], objects: list[Object]) -> None:
    names = [_name(item) for item in _typed()] if "--filename" in flags else plain
    gone = [item for item in objects if _name(item) in names]
    owners = {item["metadata"]["name"] for item in gone if item["kind"] == "Job"}
    made = [item for item in objects if _owners(item) & owners]
    for item in gone:
        item["metadata"]["deletionTimestamp"] = _WHEN
    held = [item for item in gone if item["metadata"].get("finalizers")]
    objects[:] = [item for item in objects if item in held or (item not in gone and item not in made)]
    print(*map(_name, gone), sep="\n")


def _pod(job: Object) -> Object:
    """Return the pod of a Job, which runs."""
    job["status"] = {"active": 1, "ready": 1, "startTime": _WHEN}
    name, template = job["metadata"]["name"], job["spec"]["template"]
    labels = {**template["metadata"]["labels"], "batch.kubernetes.io/job-name": name, "job-name": name}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "controller": True}
    metadata = {"name": f"{name}-x7k2p", "namespace": "ml", "labels": labels, "ownerReferences": [owner]}
    container = template["spec"]["containers"][0]["name"]
    status = {"name": container, "ready": True, "restartCount": 0, "state": {"running": {"startedAt": _WHEN}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "creationTimestamp": _WHEN},
        "spec": {**template["spec"], "nodeName": "node-1"},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [status],
        },
    }


def _event(job: Object) -> Object:
    name = job["metadata"]["name"]
    said = {"type": "Normal", "reason": "SuccessfulCreate", "message": "Created pod", "lastTimestamp": _WHEN}
    about = {"kind": "Job", "name": name}
    return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"{name}.1"}, "involvedObject": about, **said}


def _fail(objects: list[Object]) -> None:
    """End Jobs and their pods: a log that is followed ends with them."""
    for item in objects:
        if item["kind"] == "Job":
            item["status"] = {"conditions": [{"type": "Failed", "status": "True"}]}
        if item["kind"] == "Pod":
            status = item["status"]
            status["phase"] = "Failed"
            ended = {"exitCode": 7, "reason": "Error", "finishedAt": _WHEN}
            status["containerStatuses"][0] |= {"ready": False, "state": {"terminated": ended}}


def _typed() -> list[Object]:
    document = json.load(sys.stdin)
    items: list[Object] = document["items"] if document["kind"] == "List" else [document]
    return items


def _print(items: list[Object]) -> None:
    print(json.dumps({"kind": "List", "items": items}))


def _key(item: Object) -> tuple[str, str]:
    return item["kind"], item["metadata"]["name"]


def _name(item: Object) -> str:
    group = item["apiVersion"].rpartition("/")[0]
    return f"{item['kind'].lower()}{'.' if group else ''}{group}/{item['metadata']['name']}"


def _owners(item: Object) -> set[str]:
    return {owner["name"] for owner in item["metadata"].get("ownerReferences", ())}


def _has(item: Object, selector: str) -> bool:
    labels = item["metadata"].get("labels", {})
    for term in filter(None, selector.replace(" in (", "=").replace(")", "").split(",")):
        name, is_valued, value = term.partition("=")
        if term.startswith("!"):
            if term[1:] in labels:
                return False
        elif name not in labels or (is_valued and labels[name] != value):
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
