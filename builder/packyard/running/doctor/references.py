"""Whether the Secrets and ConfigMaps that pods name are there, with their keys, and accounts and pull secrets."""

from collections.abc import Iterable, Iterator, Sequence
from shlex import quote

from packyard.core.bundle.prerequisite import Prerequisite
from packyard.core.kubernetes import dependencies, pods
from packyard.core.kubernetes.dependencies import ALWAYS_THERE
from packyard.core.kubernetes.lenient import Object, mapping, mappings, name_of, text
from packyard.running.doctor.facts import Facts, Name, Questions
from packyard.running.doctor.finding import Finding, error, passed

_CHECK = "reference"
_WAIT = "pods wait for it, and never start"
#: What comes of the absence of an object, and the command that makes it.
_ABSENT = {
    "Secret": (_WAIT, "create secret generic {name}{keys}"),
    "ConfigMap": (_WAIT, "create configmap {name}{keys}"),
    "ServiceAccount": ("no pod is created for an account that is not there", "create serviceaccount {name}"),
    "for registries": (
        "nodes pull the image without it, which a private registry refuses",
        "create secret docker-registry {name} --docker-server=SERVER --docker-username=USER --docker-password=PASSWORD",
    ),
}


def ask(objects: Sequence[Object], required: Sequence[Prerequisite]) -> Questions:
    """Ask for the Secrets, ConfigMaps and accounts that objects name and do not bring, and that authors name."""
    return Questions(named=frozenset((*_held(objects, required), *_accounts(objects), *_pulling(objects))))


def judge(objects: Sequence[Object], facts: Facts, required: Sequence[Prerequisite]) -> Iterator[Finding]:
    """Find Secrets and ConfigMaps, with the keys that pods need or authors name, accounts, and pull secrets."""
    for (kind, name), keys in sorted(_held(objects, required).items()):
        item = facts.find(kind, name)
        has = {**mapping((item or {}).get("binaryData")), **mapping((item or {}).get("data"))}
        lacks = sorted(keys - {*has})
        if item and lacks:
            message = f"has no key {', '.join(lacks)}" + (f", only {', '.join(sorted(has))}" if has else "")
            fix = f"{facts.inside} edit {kind.lower()} {quote(name)}"
            yield error(_CHECK, f"{kind} {name}", message, why=_WAIT, fix=fix)
        else:
            yield _there(kind, name, facts, keys)
    yield from (_there(kind, name, facts) for kind, name in sorted(_accounts(objects)))
    yield from (_there(kind, name, facts, purpose="for registries") for kind, name in sorted(_pulling(objects)))


def _there(kind: str, name: str, facts: Facts, keys: Iterable[str] = (), purpose: str = "") -> Finding:
    if facts.find(kind, name):
        return passed(_CHECK, f"{kind} {name}")
    why, command = _ABSENT[purpose or kind]
    literals = "".join(f" --from-literal={quote(key)}=VALUE" for key in sorted(keys)) or " --from-env-file=FILE"
    fix = f"{facts.inside} {command.format(name=quote(name), keys=literals)}"
    return error(_CHECK, f"{kind} {name}", "is not there", why=why, fix=fix)


def _missing(named: set[Name], objects: Sequence[Object]) -> set[Name]:
    """Return the names that are set, of what neither the objects bring nor every namespace has."""
    brought = {(text(item.get("kind")), name_of(item)) for item in objects}
    return {(kind, name) for kind, name in named - brought - ALWAYS_THERE if name}


def _held(objects: Sequence[Object], required: Sequence[Prerequisite]) -> dict[Name, set[str]]:
    """Return the Secrets and ConfigMaps that runs cannot do without, each with the keys that they need."""
    needed: dict[Name, set[str]] = {}
    for pod in pods.find_all(objects):
        for reference in dependencies.find(pod):
            if reference.kind != "PersistentVolumeClaim" and not reference.is_optional:
                needed.setdefault((reference.kind, reference.name), set()).update(reference.keys)
    for secret in required:
        if secret.secret:
            needed.setdefault(("Secret", secret.secret), set()).update(secret.keys)
    return {reference: needed[reference] for reference in _missing({*needed}, objects)}


def _accounts(objects: Sequence[Object]) -> set[Name]:
    named = [pod.get("serviceAccountName") or pod.get("serviceAccount") for pod in pods.find_all(objects)]
    return _missing({("ServiceAccount", text(name)) for name in named}, objects)


def _pulling(objects: Sequence[Object]) -> set[Name]:
    """Return the Secrets that pods, and the accounts that come with them, pull images with."""
    lists = [pod.get("imagePullSecrets") for pod in pods.find_all(objects)]
    lists += [item.get("imagePullSecrets") for item in objects if item.get("kind") == "ServiceAccount"]
    return _missing({("Secret", text(item.get("name"))) for secrets in lists for item in mappings(secrets)}, objects)
