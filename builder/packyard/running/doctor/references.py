"""Whether what pods name is there: Secrets and ConfigMaps with their keys, accounts, classes, Services."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from shlex import quote

from packyard.core.bundle.required import Required
from packyard.core.kubernetes import held, pods
from packyard.core.kubernetes.groups import resource_of
from packyard.core.kubernetes.kinds import Kind
from packyard.core.kubernetes.lenient import Object, kind_of, mapping, mappings, name_of, text, texts_under
from packyard.core.kubernetes.name_fields import ALWAYS_THERE
from packyard.running.doctor.facts import Facts, Name, Questions
from packyard.running.doctor.finding import Finding, error, passed, warning

_CHECK = "reference"
#: The types of Secrets that a node shows to a registry.
_PULL = ("kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg")
#: What comes of the absence of an object, and the command that makes it.
_ABSENT = {
    "Secret": ("pods wait for it, and never start", "create secret generic {name}{keys}"),
    "ConfigMap": ("pods wait for it, and never start", "create configmap {name}{keys}"),
    "ServiceAccount": ("no pod is created for an account that is not there", "create serviceaccount {name}"),
    "PriorityClass": ("its pods are refused", "create priorityclass {name} --value=VALUE"),
    "RuntimeClass": ("its pods are refused", "get runtimeclasses"),
    "IngressClass": ("nobody acts on the Ingress", "get ingressclasses"),
    "Service": ("the names of its pods do not resolve", "create service clusterip {name} --clusterip=None"),
}
#: Fields of pods that name an object of a kind.
_OF_PODS = {"priorityClassName": "PriorityClass", "runtimeClassName": "RuntimeClass", "subdomain": "Service"}
#: Dynamic resource allocation: the fields of a pod's claims of devices, and what each names.
_DEVICES, _DEVICE_CLASS = "resource.k8s.io", "DeviceClass"
_OF_DEVICES = {"resourceClaimName": "ResourceClaim", "resourceClaimTemplateName": "ResourceClaimTemplate"}
#: Likewise fields below ``spec`` of other objects.
_OF_OBJECTS: dict[Kind, tuple[str, str]] = {
    ("apps", "StatefulSet"): ("serviceName", "Service"),
    ("networking.k8s.io", "Ingress"): ("ingressClassName", "IngressClass"),
}


def ask_held(objects: Sequence[Object], required: Sequence[Required] = ()) -> Questions:
    """Ask for the Secrets, ConfigMaps and accounts that objects name and do not bring, and that authors name."""
    return Questions(named=frozenset((*_held(objects, required), *_accounts(objects), *_pulling(objects))))


def there(objects: Sequence[Object], facts: Facts, required: Sequence[Required] = ()) -> Iterator[Finding]:
    """Find Secrets and ConfigMaps, with the keys that pods need or authors name, and accounts."""
    for (kind, name), keys in sorted(_held(objects, required).items()):
        item = facts.find(kind, name)
        has = {**mapping((item or {}).get("binaryData")), **mapping((item or {}).get("data"))}
        lacks = sorted(keys - {*has})
        if item is None:
            yield _absent(kind, name, facts, sorted(keys))
        elif lacks:
            yield error(
                _CHECK,
                f"{kind} {name}",
                f"has no key {', '.join(lacks)}" + (f", only {', '.join(sorted(has))}" if has else ""),
                why="pods wait for it, and never start",
                fix=_patch(kind, name, facts, lacks),
            )
        elif empty := sorted(key for key in keys if kind == "Secret" and not has[key]):
            message = f"has nothing in its key {', '.join(empty)}"
            why = "programs get an empty text where they expect a secret"
            yield warning(_CHECK, f"{kind} {name}", message, why=why, fix=_patch(kind, name, facts, empty))
        else:
            yield passed(_CHECK, f"{kind} {name}")
    for kind, name in sorted(_accounts(objects)):
        yield passed(_CHECK, f"{kind} {name}") if facts.find(kind, name) else _absent(kind, name, facts)


def pulling(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the Secrets for registries, of a type that nodes can use."""
    for kind, name in sorted(_pulling(objects)):
        secret = facts.find(kind, name)
        create = (
            f"{facts.inside} create secret docker-registry {quote(name)}"
            " --docker-server=REGISTRY --docker-username=USER --docker-password=PASSWORD"
        )
        why = "nodes pull the image without it, which a private registry refuses"
        if secret is None:
            yield error(_CHECK, f"{kind} {name}", "is not there", why=why, fix=create)
        elif text(secret.get("type")) not in _PULL:
            delete = f"{facts.inside} delete secret {quote(name)}"
            message = f"is of the type {text(secret.get('type'))}, not {_PULL[0]}"
            yield error(_CHECK, f"{kind} {name}", message, why=why, fix=f"{delete} && {create}")
        else:
            yield passed(_CHECK, f"{kind} {name}")


def ask_devices(objects: Sequence[Object]) -> Questions:
    """Ask for the claims of devices that pods name and objects do not bring, and for the classes of devices."""
    named = _devices(objects)
    resources = {kind: f"{resource_of(kind)}.{_DEVICES}" for kind in (*_OF_DEVICES.values(), _DEVICE_CLASS)}
    return Questions(
        custom=frozenset((resources[kind], name) for kind, name in named),
        lists=frozenset(
            {resources[_DEVICE_CLASS]} if any(each.get("resourceClaims") for each in pods.find_all(objects)) else ()
        ),
    )


def devices(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the claims of devices that pods name, and the classes that these and those that come ask for."""
    named = _devices(objects)
    there = {each: facts.find(*each) for each in sorted(named)}
    for (kind, name), item in there.items():
        if item is None:
            fix = f"{facts.inside} get {resource_of(kind)}"
            yield error(_CHECK, f"{kind} {name}", "is not there", why="its pods stay Pending", fix=fix)
    asking = [*filter(None, there.values()), *(item for item in objects if kind_of(item)[0] == _DEVICES)]
    for name in sorted({name for item in asking for name in texts_under(item, "deviceClassName")}):
        why = "no driver offers such devices: pods that claim one stay Pending"
        yield facts.look_for(_CHECK, _DEVICE_CLASS, name, why=why, fix="kubectl get deviceclasses")


def _devices(objects: Sequence[Object]) -> set[Name]:
    claimed = [each for pod in pods.find_all(objects) for each in mappings(pod.get("resourceClaims"))]
    named = {(kind, text(each.get(field))) for each in claimed for field, kind in _OF_DEVICES.items()}
    return _missing(named, objects)


def ask_classes(objects: Sequence[Object]) -> Questions:
    """Ask for the classes and Services that objects name and do not bring."""
    return Questions(named=frozenset(_classes(objects)))


def classes(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find classes, and the Services whose names stand for pods."""
    for kind, name in sorted(_classes(objects)):
        yield passed(_CHECK, f"{kind} {name}") if facts.find(kind, name) else _absent(kind, name, facts)


def _absent(kind: str, name: str, facts: Facts, keys: Sequence[str] = ()) -> Finding:
    why, command = _ABSENT[kind]
    literals = "".join(f" --from-literal={quote(key)}=VALUE" for key in keys) or " --from-env-file=FILE"
    words = command.format(name=quote(name), keys=literals)
    fix = f"{facts.inside} {words}"
    return error(_CHECK, f"{kind} {name}", "is not there", why=why, fix=fix)


def _patch(kind: str, name: str, facts: Facts, keys: Sequence[str]) -> str:
    field = "stringData" if kind == "Secret" else "data"
    patch = quote(json.dumps({field: dict.fromkeys(keys, "VALUE")}))
    return f"{facts.inside} patch {kind.lower()} {quote(name)} --type=merge --patch={patch}"


def _brought(objects: Sequence[Object]) -> set[Name]:
    return {(text(item.get("kind")), name_of(item)) for item in objects}


def _missing(named: set[Name], objects: Sequence[Object]) -> set[Name]:
    """Return the names that are set, of what neither the objects bring nor every namespace has."""
    return {(kind, name) for kind, name in named - _brought(objects) - ALWAYS_THERE if name}


def _held(objects: Sequence[Object], required: Sequence[Required]) -> dict[Name, set[str]]:
    """Return the Secrets and ConfigMaps that runs cannot do without, each with the keys that they need."""
    needed: dict[Name, set[str]] = {}
    for pod in pods.find_all(objects):
        for each in held.find(pod):
            if each.kind != "PersistentVolumeClaim" and not each.is_optional:
                needed.setdefault((each.kind, each.name), set()).update(each.keys)
    for secret in required:
        if secret.secret:
            needed.setdefault(("Secret", secret.secret), set()).update(secret.keys)
    return {each: needed[each] for each in _missing({*needed}, objects)}


def _accounts(objects: Sequence[Object]) -> set[Name]:
    named = [pod.get("serviceAccountName") or pod.get("serviceAccount") for pod in pods.find_all(objects)]
    return _missing({("ServiceAccount", text(name)) for name in named}, objects)


def _pulling(objects: Sequence[Object]) -> set[Name]:
    """Return the Secrets that pods, and the accounts that come with them, pull images with."""
    lists = [pod.get("imagePullSecrets") for pod in pods.find_all(objects)]
    lists += [item.get("imagePullSecrets") for item in objects if item.get("kind") == "ServiceAccount"]
    return _missing({("Secret", text(each.get("name"))) for secrets in lists for each in mappings(secrets)}, objects)


def _classes(objects: Sequence[Object]) -> set[Name]:
    class_names = {(kind, text(pod.get(field))) for pod in pods.find_all(objects) for field, kind in _OF_PODS.items()}
    for item in objects:
        kind = kind_of(item)
        if kind in _OF_OBJECTS:
            field, named = _OF_OBJECTS[kind]
            class_names.add((named, text(mapping(item.get("spec")).get(field))))
    return _missing(class_names, objects)
