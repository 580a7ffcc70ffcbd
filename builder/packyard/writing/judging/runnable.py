"""Which blocks of commands are run: fragments of READMEs may come from a library, so that a command may be anybody's.

A block is run if it consists of a few programs with plain words: nothing is substituted, expanded or put into the
background, no path is absolute, and none leads up further than `DEPTH` folders.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

#: How deep a block has to be run, so that the folders above it stay out of its reach.
DEPTH = 16

_FILES = {"cd", "echo", "cat", "head", "tail", "ls", "grep", "mkdir", "cp", "mv", "true"}
_PROGRAMS = {*_FILES, "kustomize", "kubectl", "packyard"}
#: By these verbs alone, as others need a network or keys.
_VERBS = {"set", "setters", "explain", "enable", "undo", "render", "lint", "cfg", "list"}
_BETWEEN, _REDIRECTED = {";", "&&", "|", ""}, {">", ">>", "<"}
_PUNCTUATION = "();<>|&\n"
_SETTER = re.compile(r"[A-Z][A-Z0-9_]*(=.*)?", re.DOTALL)
_ELSEWHERE = re.compile(r"(^|[=:,]|^-\w+)(/(?!dev/null$)|~)|(^|/)\.[^/]*[*?\[]")
_EXPANDED = re.compile("[`$]")
_STARTS = re.compile(r"--(enable|helm|network|mount|env|as-current)|-e$|.*://", re.DOTALL)  # by kustomize and packyard


def script(text: str) -> str:
    """Return a block without its comments, with a command on a line: what is looked at is what is run."""
    lines = text.replace("\\\n", " ").split("\n")
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def refused(text: str, has_kustomize: bool) -> str:
    """Return the first command of a script that is not run, by its program and verb, or nothing."""
    if not text.replace("\n", "").replace("\t", "").isprintable() or _EXPANDED.search(text) or text.count("..") > DEPTH:
        return " ".join(text.split()[:2])
    try:
        commands = list(_commands(text))
    except ValueError:  # a quote without its end
        return " ".join(text.split()[:2])
    return next((" ".join(words[:2]) for words in commands if not _is_run(words, has_kustomize)), "")


def _commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each command; one that is not simple begins with what makes it so."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t", "", True
    words: list[str] = []
    for token in lexer:
        sign = token.strip("\n") if token and not token.strip(_PUNCTUATION) else None
        if sign in _BETWEEN:
            yield words
            words = []
        elif sign is not None and (sign not in _REDIRECTED or not words):
            yield [token, *words]
        elif sign is None:
            words.append(token)
    yield words


def _is_run(words: Sequence[str], has_kustomize: bool) -> bool:
    if not words:
        return True
    program, *rest = words
    if program == "kubectl":  # a stand-in, which opens no file
        return not any(_ELSEWHERE.search(word) for word in rest if word.startswith("/"))
    if program not in _PROGRAMS:
        return False
    if program == "tail" and any(re.match(r"-\w*[fF]|--[fr]", word) for word in rest):  # which never ends
        return False
    if program == "packyard" and not (rest and rest[0] in _VERBS):
        return False
    if program == "kustomize" and rest[:1] not in (["cfg"], ["build"], *([["edit"]] if has_kustomize else [])):
        return False
    if program not in _FILES and any(_STARTS.match(word) for word in rest):
        return False
    return not any(map(_ELSEWHERE.search, _paths(program, rest)))


def _paths(program: str, words: Sequence[str]) -> list[str]:
    """Return the words that may be paths: what follows the name of a setter is its value."""
    if program in _FILES or "set" not in words[:2]:
        return list(words)
    values = next((place for place, word in enumerate(words) if _SETTER.fullmatch(word)), len(words))
    return list(words[:values])
