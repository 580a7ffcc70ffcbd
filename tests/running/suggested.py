"""Commands that messages suggest: read from the code, and typed as far as can be.

A message ends a command where prose goes on, which nothing marks: what is typed is the longest beginning that is
understood, and it has to hold every flag.
"""

import ast
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from packyard.cli import declare
from packyard.cli.verbs import FOREIGN, VERBS
from packyard.core.errors import UsageError
from packyard.running.runs.kubectl import Kubectl

#: What stands for what is not known before a run: a name, a number, a path.
ANY = "1"
_COMMAND = re.compile(r"(?<![\w`/])(packyard|kubectl) ([a-z][^;\n`|<>]*)")
_END = re.compile(r" && | \(|\)|, |: |\. ")
#: Methods of `Kubectl` that make a command of their arguments.
_MADE = {"packyard": ("packyard",), "by_hand": ("kubectl",)}
#: Where kubectl changes something, it only tries to.
_CHANGES = {"create", "label", "patch", "delete", "taint", "apply"}
_MISTYPED = re.compile(r"unknown (?:flag|shorthand|command)|doesn't have a resource type|unexpected|required")


def of_text(text: str) -> Iterator[list[str]]:
    """Yield the words of each command in a text, with the prose behind it."""
    for program, rest in _COMMAND.findall(text):
        whole = _END.split(f"{program} {rest}")[0]
        try:
            words = shlex.split(whole)
        except ValueError:  # an apostrophe of prose
            words = whole.split()
        if program == "kubectl" or words[1] in {*VERBS, *FOREIGN}:
            yield words


def of_module(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the commands in the texts of a module, and those that `Kubectl` makes for it, with their lines."""
    tree = ast.parse(file.read_text())
    documented = set(map(id, _docstrings(tree)))
    inner = {id(part) for each in ast.walk(tree) if isinstance(each, ast.JoinedStr) for part in each.values}
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant | ast.JoinedStr) and id(each) not in documented | inner:
            yield from ((each.lineno, words) for words in of_text(_text(each)))
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _MADE:
            words = [_word(word) for word in each.args]
            if words[0] != ANY:  # the verb is known
                yield each.lineno, [*_MADE[each.func.attr], *words]


def check_packyard(words: Sequence[str]) -> str:
    """Return why packyard would not take a command; an empty text where it does."""
    try:
        understood(words)
    except UsageError as error:
        return str(error)
    return ""


def understood(words: Sequence[str]) -> list[str]:
    """Return a command of packyard without the prose behind it, or raise `UsageError` where it is none."""
    _, verb, *rest = words
    if verb not in VERBS:
        raise UsageError(f"no verb {verb}")
    module = import_module(f"packyard.cli.{VERBS[verb][0]}")
    if hasattr(module, "main") or "--help" in rest:  # it parses its words itself
        return [*words]
    flags = [place for place, word in enumerate(rest) if re.match(r"--?[a-z]", word)]
    refused = None
    for end in range(len(rest), max(flags, default=-1), -1):
        try:
            made = declare.make(module, verb)
            _, unknown = made.parse_known_intermixed_args(rest[:end])
            made.refuse_rest(unknown)
            return [*words[:2], *rest[:end]]
        except UsageError as error:
            refused = refused or error
    if refused and rest:  # a verb alone is spoken of
        raise refused
    return [*words]


def check_kubectl(words: Sequence[str], client: Kubectl) -> str:
    """Type a command of kubectl, one that changes something as a trial; return why kubectl does not understand it."""
    if "--watch" in words or words[1] in ("config", "debug", "version"):
        return ""
    words = [*words[:2], "configmap", *words[3:]] if words[2:3] == [ANY] else list(words)  # a kind that is not known
    trial = ["--dry-run=server"] if _CHANGES.intersection(words) else []
    typed = [client.program, *client.flags, *words[1:], *trial]
    said = subprocess.run(typed, capture_output=True, text=True, timeout=60).stderr
    if _MISTYPED.search(said) and words[-1] == ANY:  # it stands for several words, or for none
        return check_kubectl(words[:-1], client)
    return said if _MISTYPED.search(said) else ""


def _docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and ast.get_docstring(node) is not None:
                yield first.value


def _text(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(value) if isinstance(value, ast.Constant) else ANY for value in node.values)
    return node.value if isinstance(node.value, str) else ""


def _word(node: ast.expr) -> str:
    return _text(node) if isinstance(node, ast.Constant | ast.JoinedStr) else ANY
