"""What a container finds in its image, on its volumes and around it when all is well, as its command and variables say.

    command: [mpirun, python3, $(MODEL_DIR)/train.py]          program mpirun, program ssh, program python3, script …
    DATASET_DIR: /data/set      below a read-only mount        read $(DATASET_DIR)
    OUTPUT_DIR: /pvc/user/run   below a mount                  write $(OUTPUT_DIR)

What is looked for is written as the pod writes it, with its variables. Nothing of this is known of a single package.
"""

from __future__ import annotations

import ipaddress
import itertools
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from packyard.core.kubernetes import mpi_jobs, pods
from packyard.core.kubernetes.lenient import Object, mapping, mappings, name_of, text, type_of

#: The functions of `probe.sh`.
Kind = Literal["program", "module", "script", "read", "write", "list", "user", "name"]

_PYTHON = re.compile(r"(?:\S*/)?python[\d.]*\Z")
_SHELLS = ("sh", "bash", "dash", "ash")
#: Programs that start others, and what they need; other words of a command may be anything.
_LAUNCHERS = frozenset(("horovodrun", "mpiexec", "mpirun", "orterun", "sshd", "torchrun"))
#: A word that is a program, and one that is a file.
_PROGRAM = re.compile(r"[\w./][\w./+-]*\Z")
_FILE = re.compile(r".*[/$]|.*\.(?:sh|py)\Z", re.DOTALL)
_OF_SHELL = re.compile(r"[\s;&|(){}'\"`]+")
_COMMENT = re.compile(r"(?m)^\s*#.*$")
_BRACED = re.compile(r"\$\{(\w+)\}")
_VARIABLE = re.compile(r"\$(\w+)")
_URL = re.compile(r"\bhttps?://(?:[^/@\s]*@)?([A-Za-z0-9.-]+)")
_REFERENCE = re.compile(r"\$\$|\$\(([^)]*)\)")
#: Volumes that are there before a pod and after it.
_LASTING = ("persistentVolumeClaim", "nfs", "hostPath", "csi")
_MOST = 60  # what is looked for in one container, whose last words a kubelet cuts off at 4 KiB


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to look for: ``word`` is given to the probe, ``about`` names it to people.

    ``is_awaited`` says that the pod itself waits until it is there.
    """

    kind: Kind
    word: str
    about: str
    is_awaited: bool = False


def find(container: Object, volumes: Sequence[Object], objects: Sequence[Object]) -> tuple[Check, ...]:
    """Return what a container needs whose pod has these volumes, and is one of ``objects``."""
    words, values = _words(container), values_of(container, objects)
    lasting = {text(each.get("name")) for each in volumes if any(kind in each for kind in _LASTING)}
    mounts = {
        text(each.get("mountPath")): each.get("readOnly") is True
        for each in mappings(container.get("volumeMounts"))
        if text(each.get("name")) in lasting
    }
    checks = [*_programs(words, values), *_paths(mounts, values, _awaited(objects)), *_names(words, values)]
    return tuple(dict.fromkeys(each for each in checks if "{{" not in each.word))[:_MOST]  # a parameter of Argo


def values_of(container: Object, objects: Sequence[Object]) -> dict[str, str]:
    """Return the variables of a container that are written out, in it or in a ConfigMap among ``objects``."""
    maps = {name_of(item): mapping(item.get("data")) for item in objects if type_of(item) == ("v1", "ConfigMap")}
    values: dict[str, str] = {}
    for source in mappings(container.get("envFrom")):
        named = maps.get(text(mapping(source.get("configMapRef")).get("name")), {})
        values |= {text(source.get("prefix")) + key: text(value) for key, value in named.items()}
    for variable in mappings(container.get("env")):
        reference = mapping(mapping(variable.get("valueFrom")).get("configMapKeyRef"))
        if "value" in variable:
            values[text(variable.get("name"))] = _expanded(text(variable["value"]), values)
        elif (value := maps.get(text(reference.get("name")), {}).get(text(reference.get("key")))) is not None:
            values[text(variable.get("name"))] = text(value)
    return values


def _expanded(value: str, values: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda match: "$" if match[1] is None else values.get(match[1], match[0]), value)


def _awaited(objects: Sequence[Object]) -> str:
    """Return all that init containers run, in one text: the variables that it names are waited for, or made."""
    initial = (each for pod in pods.find_all(objects) for each in mappings(pod.spec.get("initContainers")))
    return "\n".join(word for each in initial for word in _words(each))


def _words(container: Object) -> list[str]:
    return [each for field in ("command", "args") for each in _texts(container.get(field))]


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _programs(words: Sequence[str], values: Mapping[str, str]) -> Iterator[Check]:
    """Yield the programs of a command and their files; words behind a program may be the command of another."""
    started = [
        each
        for number, word in enumerate(words)
        if not number or _is_launcher(word)
        for each in _started(word, words[number + 1 :], values)
    ]
    yield from started
    names = {posixpath.basename(each.word) for each in started}
    if mpi_jobs.starts_ranks(list(names)):
        yield Check("program", "ssh", "ssh, by which mpirun starts the ranks")
    if mpi_jobs.starts_ranks(list(names)) or "sshd" in names:
        yield Check("user", "-", "a name for the user, without which ssh refuses it")


def _started(word: str, behind: Sequence[str], values: Mapping[str, str]) -> Iterator[Check]:
    """Yield a program and, of a shell and Python, the file that it runs."""
    yield Check("program", word, _expanded(word, values))
    flags = list(itertools.takewhile(lambda each: each.startswith("-"), behind))
    operand = behind[len(flags)] if len(behind) > len(flags) else ""
    if posixpath.basename(word) in _SHELLS:
        if any("c" in each and not each.startswith("--") for each in flags):
            yield from _inside(operand, values)
        elif _FILE.match(operand):
            yield Check("script", operand, _expanded(operand, values))
    elif _PYTHON.match(word) and "-c" not in flags and operand:
        if "-m" in flags:
            yield Check("module", f"{word} {operand}", f"module {_expanded(operand, values)} of {word}")
        elif _FILE.match(operand):
            yield Check("script", operand, _expanded(operand, values))


def _is_launcher(word: str) -> bool:
    return bool(_PYTHON.match(word)) or posixpath.basename(word) in _LAUNCHERS


def _inside(script: str, values: Mapping[str, str]) -> Iterator[Check]:
    """Yield the programs of a shell's script that are known to be such, or take its place."""
    script = _BRACED.sub(r"$\1", _COMMENT.sub("", script))
    words = [_VARIABLE.sub(r"$(\1)", each) for each in _OF_SHELL.split(script)]
    for number, word in enumerate(words):
        if _is_launcher(word) or words[number - 1 : number] == ["exec"]:
            arguments = itertools.takewhile(lambda each: "$" not in _expanded(each, values), words[number + 1 :])
            yield from _started(word, list(arguments), values) if _PROGRAM.match(word) else ()


def _paths(mounts: Mapping[str, bool], values: Mapping[str, str], awaited: str) -> Iterator[Check]:
    """Yield the folders of storage: those that variables name, and mounts of which none does."""
    used = set()
    for name, value in values.items():
        holder = max((each for each in mounts if _holds(each, value)), key=len, default="")
        if not holder:
            continue
        used.add(holder)
        if mounts[holder]:
            yield Check(
                "read", f"$({name})", f"{name} {value}", is_awaited=bool(re.search(rf"\b{re.escape(name)}\b", awaited))
            )
        else:
            yield Check("write", f"$({name})", f"{name} {value}")
    yield from (Check("list", path, path) for path in mounts if path not in used)


def _holds(folder: str, path: str) -> bool:
    return f"{posixpath.normpath(path)}/".startswith(posixpath.normpath(folder).rstrip("/") + "/")


def _names(words: Sequence[str], values: Mapping[str, str]) -> Iterator[Check]:
    """Yield the hosts that a command or its variables name by addresses of the web."""
    for value in (*values.values(), *(_expanded(each, values) for each in words)):
        for host in _URL.findall(value):
            with suppress(ValueError):
                ipaddress.ip_address(host)
                continue
            yield Check("name", host, host)
