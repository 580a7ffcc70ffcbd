"""Faults of the commands of a page, which are read and not run: paths, parameters and names that are not there.

cd NAME/quickstart/mlops        `cd` is followed, from the folder of the page or the one above it
kustomize cfg set . WORKERZ 4   no package there has the parameter
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from packyard.core.errors import suggest
from packyard.core.kubernetes.groups import resource_of
from packyard.core.yaml.document import mappings
from packyard.writing.checks.finding import Finding
from packyard.writing.checks.markdown import Block, Page
from packyard.writing.checks.pages import Folder, at

_LANGUAGES = ("", "sh", "bash", "shell", "console", "zsh")
#: What a reader has to fill in, or a shell does.
_OPEN = re.compile(r"[$<>{}*?~`\[\]…]|\.\.\.|//|^-$|^/")
_PODS = re.compile(r"kubectl\s[^|;&]*\bget\s+(?:po|pod|pods)\b[^|;&]*\|\s*(?:grep|awk|sed)\b")
_REMOVING = re.compile(r"(?i)\b(clean[ -]?up|delete|remove|uninstall|tear[ -]?down)\b")
_JOINING = frozenset(("|", "||", "&&", ";", "&"))
#: What `kustomize edit add` takes by path; the rest it takes by names and flags.
_ADDED = ("base", "component", "generator", "resource", "transformer")
#: What asks for objects that are there.
_ASKING = ("get", "describe", "logs", "wait", "rollout", "port-forward", "exec", "scale", "delete", "edit", "patch")
_SHORT = {
    "deploy": "deployment",
    "po": "pod",
    "svc": "service",
    "cm": "configmap",
    "sts": "statefulset",
    "ds": "daemonset",
    "cj": "cronjob",
    "pvc": "persistentvolumeclaim",
    "sa": "serviceaccount",
    "ing": "ingress",
    "hpa": "horizontalpodautoscaler",
    "pdb": "poddisruptionbudget",
    "netpol": "networkpolicy",
}
_ALIKE = 2  # characters that a label may have more or less than what was meant
_SCRIPTS = ("sh", "bash", "source", ".")


def check(folder_path: str, page: Page, folder: Folder, place: str) -> Iterator[Finding]:
    """Find commands of a page that cannot work in its folder."""
    reader = _Reader(folder_path, folder, place)
    for block in page.blocks if not page.is_source else ():  # whose readers have the site
        if block.language.lower() in _LANGUAGES:
            commands = [*_commands(block)]
            yield from reader.type(commands)
            yield from _left_over(block.heading, commands, place)
            yield from _by_text(block, place)


@dataclass
class _Reader:
    """Who types the commands of a page one after the other, and has what the commands before made."""

    start: str
    folder: Folder
    place: str
    #: Where the next command may run, and where `cd` has led; None where nobody knows.
    roots: set[str] = field(default_factory=set)
    entered: set[str] | None = field(default_factory=set)
    #: Names of files that commands spoke of, folders that git fetched, and releases of helm.
    named: set[str] = field(default_factory=set)
    cloned: set[str] = field(default_factory=set)
    installed: set[str] = field(default_factory=set)

    def type(self, commands: Iterable[tuple[int, list[str]]]) -> Iterator[Finding]:
        """Find what is wrong with the commands of a block, which begins where any block before has led."""
        self.roots = {self.start, *_above(self.start), *self.entered} if self.entered is not None else set()
        for line, words in commands:
            program = posixpath.basename(words[0])
            if program == "cd" and len(words) > 1:
                yield from self._go(words[1], line)
                continue
            if self.roots:
                yield from _command(program, words, line, self.roots, self.folder, self.place, self.named)
            names = [posixpath.basename(word).removesuffix(".git") for word in words[1:]]
            self.named.update(names)
            if words[:2] == ["git", "clone"]:
                self.cloned.add(names[-1])
            if program == "kubectl":
                yield from _objects(words, line, self.folder, self.place)
            if program == "helm":
                yield from _helm(words, line, self.installed, self.place)

    def _go(self, target: str, line: int) -> Iterator[Finding]:
        targets = _cd(target, self.roots, self.folder)
        top, _, below = posixpath.normpath(target).partition("/")
        if (targets is None and top in self.named) or (top in self.cloned and not below):
            targets = set()  # which a command before made
        if targets is None:
            yield at("no-such-path", self.place, line, f"there is no folder {target} to go to", "correct it")
        self.roots = targets or set()
        self.entered = {*self.entered, *self.roots} if self.roots and self.entered is not None else None


def _left_over(heading: str, commands: Sequence[tuple[int, list[str]]], place: str) -> Iterator[Finding]:
    """Find that a section about removing applies objects, and deletes none."""
    applying = [line for line, words in commands if words[:2] == ["kubectl", "apply"]]
    is_removing = any(
        posixpath.basename(words[0]) in ("kubectl", "helm") and words[1:2] != ["apply"] for _, words in commands
    )
    if _REMOVING.search(heading) and applying and not is_removing:
        message = f"below {heading!r} this applies objects, and nothing deletes them"
        yield at("removal-applies", place, applying[0], message, "kubectl delete")


def _by_text(block: Block, place: str) -> Iterator[Finding]:
    for line, text in block.lines:
        if _PODS.search(text):
            message = "this finds pods by a text in their names, also those of other runs"
            yield at("pods-by-text", place, line, message, "kubectl get pods -l LABEL=VALUE")


def _commands(block: Block) -> Iterator[tuple[int, list[str]]]:
    """Yield the commands of a block, each as its words, with its line; in a console those behind a prompt."""
    prompts = any(line.lstrip().startswith("$ ") for _, line in block.lines)
    held, first = "", 0
    until = ""
    for number, line in block.lines:
        text = line.strip()
        if until:
            until = "" if text == until else until
            continue
        if prompts and not held:
            if not text.startswith("$ "):
                continue
            text = text[2:]
        held, first = (held + " " + text, first) if held else (text, number)
        if held.endswith("\\"):
            held = held[:-1]
            continue
        if heredoc := re.search(r"<<-?\s*['\"]?(\w+)", held):
            until = heredoc[1]
        yield from ((first, words) for words in _split(held))
        held = ""


def _split(text: str) -> Iterator[list[str]]:
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars=";|&")
        lexer.whitespace_split = True
        tokens = list(lexer)
    except ValueError:
        return
    words: list[str] = []
    for token in [*tokens, ";"]:
        if token in _JOINING or token == ";;":
            while words and (words[0] in ("sudo", "time", "export", "then", "do") or re.match(r"\w+=", words[0])):
                words.pop(0)
            if words:
                yield words
            words = []
        else:
            words.append(token)


def _cd(target: str, roots: set[str], folder: Folder) -> set[str] | None:
    """Return where a `cd` may lead, from any of these folders; None if nowhere, nothing if nobody knows."""
    if _OPEN.search(target) or not roots:
        return set()
    folders = set()
    for root in roots:
        for path in (posixpath.normpath(posixpath.join(root, target)), _below_top(root, target)):
            there = folder.has(path) if path is not None else None
            if there is None and path is not None:
                return set()
            if there and path in folder.folders | {"."}:
                folders.add("" if path == "." else path)
    return folders or None


def _above(folder: str) -> Iterator[str]:
    """Yield the folders above one, from which a page may mean its commands."""
    while folder:
        folder = posixpath.dirname(folder)
        yield folder


def _below_top(root: str, target: str) -> str | None:
    """Return a path that begins with the name of the unpacked folder, from that folder."""
    first, _, rest = target.partition("/")
    return posixpath.normpath(posixpath.join(root, rest or ".")) if first not in (".", "..") else None


def _command(
    program: str, words: list[str], line: int, roots: set[str], folder: Folder, place: str, file_names: set[str]
) -> Iterator[Finding]:
    for path in _paths(program, words):
        is_made = path == "." or posixpath.basename(path) in file_names
        if not _OPEN.search(path) and not is_made and not any(_has(root, path, folder) for root in roots):
            message = f"there is no {path} here"
            yield at("no-such-path", place, line, message, "correct the path")
    for target, name in _set(program, words):
        below = [folder.setters_below(posixpath.normpath(posixpath.join(root, target)).lstrip("./")) for root in roots]
        names = {each for setters in below for each in setters}
        if names and name not in names and not _OPEN.search(name + target):
            hint = suggest(name, names) or "packyard setters lists them"
            yield at("no-such-parameter-here", place, line, f"no Krmfile here defines {name}", hint)


def _has(root: str, path: str, folder: Folder) -> bool:
    """Say whether a path is there, or leads to where nobody looked."""
    return folder.has(posixpath.join(root, path)) is not False


def _paths(program: str, words: list[str]) -> Iterator[str]:
    """Yield the local paths that a command needs."""
    if program == "kubectl":
        for flag, value in pairwise(words):
            if flag in ("-k", "--kustomize") or (flag in ("-f", "--filename") and "logs" not in words):
                yield value
        if words[1:2] == ["kustomize"] and len(words) > 2 and not words[2].startswith("-"):
            yield words[2]
    elif program == "kustomize":
        if words[1:2] == ["build"] and len(words) > 2 and not words[2].startswith("-"):
            yield words[2]
        if words[1:3] == ["edit", "add"] and words[3:4] in ([each] for each in _ADDED):
            yield from (word for word in words[4:] if not word.startswith("-"))
    elif program == "docker" and words[1:2] == ["build"] and not words[-1].startswith("-") and len(words) > 2:
        if not words[-2].startswith("-") or "=" in words[-2]:  # of which it would be the value
            yield words[-1]
    elif program in _SCRIPTS and len(words) > 1 and words[1].endswith(".sh"):
        yield words[1]
    elif words[0].startswith("./") and words[0].endswith((".sh", ".py")):
        yield words[0]


def _set(program: str, words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the folder and the name of each parameter that a command sets."""
    if program in ("kustomize", "packyard") and words[1:3] == ["cfg", "set"] and len(words) > 4:
        yield words[3], words[4]
    elif program == "packyard" and words[1:2] == ["set"] and len(words) > 2:
        yield from ((words[2], word.partition("=")[0]) for word in words[3:] if re.match(r"[A-Z_0-9]+=", word))


def _objects(words: list[str], line: int, folder: Folder, place: str) -> Iterator[Finding]:
    """Find objects and labels that a command means, and that are here under nearly the same name."""
    if words[1:2] not in ([verb] for verb in _ASKING) or _OPEN.search(" ".join(words[2:]).replace("/", "")):
        return
    named = [word for word in words[2:] if not word.startswith("-")]
    pairs = [tuple(word.split("/", 1)) for word in named if "/" in word] or list(pairwise(named))[:1]
    for kind, name in pairs:
        objects = folder.names.get(_resource(kind, folder), {})
        if objects and name not in objects and (near := suggest(name, objects)):
            yield at("no-such-object", place, line, f"no {kind} here is called {name}", near)
        elif name in objects and words[1] == "port-forward":
            ports = {each.text("port") for each in mappings(objects[name].find("spec", "ports"))} - {""}
            wanted = [word.rpartition(":")[2] for word in named if re.fullmatch(r"\d*:?\d+", word)]
            for port in wanted if objects[name].text("kind") == "Service" and ports else ():
                if port not in ports:
                    message = f"Service {name} has no port {port}"
                    yield at("no-such-object", place, line, message, ", ".join(sorted(ports)))
    for flag, value in pairwise([part for word in words for part in re.split(r"^(-l|--selector)=?", word) if part]):
        for key, _, wanted_value in (each.partition("=") for each in value.split(",") if flag in ("-l", "--selector")):
            values = folder.labels.get(key, set())
            alike = (each for each in folder.labels if abs(len(each) - len(key)) <= _ALIKE)
            near = "" if values else suggest(key, alike)
            if (values and wanted_value.lstrip("=") not in {*values, ""} and "!" not in key) or near:
                hint = near or suggest(wanted_value, values) or f"{key} is {', '.join(sorted(values))}"
                yield at("no-such-object", place, line, f"no object here has the label {key}={wanted_value}", hint)


def _resource(kind: str, folder: Folder) -> str:
    """Return the resource that a command means by a word: its kind, short or in the plural."""
    word = _SHORT.get(kind, kind).partition(".")[0].lower()
    return word if word in folder.names else resource_of(word)


def _helm(words: list[str], line: int, installed: set[str], place: str) -> Iterator[Finding]:
    names = [word for word in words[2:] if not word.startswith("-")]
    if words[1:2] == ["install"] and names:
        installed.add(names[0])
    elif words[1:2] in (["uninstall"], ["delete"]) and names and installed and names[0] not in installed:
        message = f"no command of this page installs a release {names[0]}"
        if not _OPEN.search(names[0]):
            hint = suggest(names[0], installed) or f"it is {', '.join(sorted(installed))}"
            yield at("no-such-release", place, line, message, hint)
