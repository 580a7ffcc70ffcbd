"""Faults of commands: names without a value, a shell's syntax where no shell is, shells that an image lacks.

args: [--output=$(OUTPUT_DIR)]        Kubernetes puts in the value, if the container has a variable OUTPUT_DIR
args: [--output=$HOME/output]         no shell reads it: the program gets the text $HOME
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from packyard.core.errors import suggest
from packyard.core.kubernetes import images
from packyard.core.kubernetes.kinds import RAY, kind_of
from packyard.core.yaml.document import items, mappings
from packyard.core.yaml.node import MappingNode, Scalar, SequenceNode
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

_SHELLS = ("sh", "bash", "ash", "dash", "zsh", "ksh", "env", "eval", "envsubst")
_REFERENCE = re.compile(r"(?<!\$)\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")
_SHELL_NAME = re.compile(r"(?<![$\\])\$(?:\{([A-Z_][A-Z0-9_]*)\}|([A-Z_][A-Z0-9_]*))")
_TORN = re.compile(r"(?:^|\s)(--[A-Za-z][\w-]*=)[ \t]+(?=[^\s-])")
#: An option with its value in one word, and a word that takes the next one for its value.
_GLUED = re.compile(r"(--[A-Za-z][\w-]*|-np?)[ \t]+[^\s=]\S*\Z")
_WORDS = re.compile(r"[^\s$({]+[ \t]+[^$({\n]+\Z")
_TAKES_NEXT = re.compile(r"--?[A-Za-z][\w-]*\Z")
_SHELL_FLAG = re.compile(r"-[a-z]*c[a-z]*\Z")
_STOPS = re.compile(r"\bset\s+(-\w*e|-o\s+errexit)|&&\s*\\?\n|\|\|\s*exit")
#: A line of a script that runs a program: neither part of a loop or a branch, nor an assignment.
_COMMAND = re.compile(
    r"(?!(?:until|while|for|if|elif|else|then|do|done|fi|case|esac|trap|function|echo|printf|export|sleep|wait|exit|set)\b)"
    r"(?!\w+=\S*\s*\Z)[\w./$\"]"
)
_FEW = 2
_REAL_SHELLS = 6  # of them
_OPEN = re.compile(r"(?:chmod\s+(?:-\w+\s+)*|mkdir\s+(?:-p\s+)?-m\s*)(?:0?777|a\+rwx|ugo\+rwx)\b")
#: Images with a shell of their own, which is not bash.
_WITHOUT_BASH = ("busybox", "alpine")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find what is wrong with the commands of containers."""
    for root in parsed.objects:
        for container in parsed.containers_of(root):
            is_joined = kind_of(root)[0] == RAY  # with what starts Ray, to a script
            yield from _container(container, parsed, variables.of_controllers(root), is_joined=is_joined)


def _container(container: MappingNode, parsed: Parsed, extra: Sequence[str], *, is_joined: bool) -> Iterator[Finding]:
    texts = list(variables.words(container))
    texts += filter(None, [container.scalar("source")])
    if not texts:
        return
    in_shell = any(PurePosixPath(word).name in _SHELLS for text in texts for word in text.value.split())
    image = images.parse(container.text("image")).name.rpartition("/")[2]
    first = texts[0]
    if PurePosixPath(first.value).name == "bash" and image in _WITHOUT_BASH:
        message = f"the image {image} has no bash, so the container does not start"
        yield breach("no-such-shell", first, message, "use sh")
    if not in_shell and container.get("source") is None:
        yield from _references(texts, container, parsed, extra)
        yield from () if is_joined else _glued(texts)
    yield from _of_variables(container, parsed)
    yield from _goes_on(texts)
    yield from _no_program(container, is_joined=is_joined)
    for text in texts:
        match = _TORN.search(text.value)
        if match and (
            in_shell or " " not in text.value[match.end() :].strip()
        ):  # otherwise it is a text of several words
            message = f"a blank follows {match[1]}: the option is empty, and its value another argument"
            yield breach("torn-option", text, message, "remove the blank")
        if _OPEN.search(text.value) or _joined_opens(texts, text):
            message = "this lets everybody write"
            yield breach("open-directory", text, message, "use fsGroup, or mode 775")


def _glued(texts: list[Scalar]) -> Iterator[Finding]:
    """Find an option and its value in one word, which few programs read as two."""
    for before, text in zip([None, *texts], texts, strict=False):
        match = _GLUED.match(text.value)
        if match and not (before and _TAKES_NEXT.match(before.value)):
            message = f"{match[1]} and its value are one word, which most programs take for the name of an option"
            yield breach("torn-option", text, message, f"make it two words, or write {match[1]}=VALUE")


def _no_program(container: MappingNode, *, is_joined: bool) -> Iterator[Finding]:
    """Find a command whose program is missing, and a shell that is told to run a text that is missing."""
    command, args = container.get("command"), container.get("args") or container.get("source")
    words = items(command)
    first = words[0] if words else None
    operands = [*words[1:], *(items(args) if isinstance(args, SequenceNode) else ())]
    if isinstance(first, Scalar) and first.value.startswith("-"):
        message = f"the command begins with {first.value!r}, which is an option and not a program"
        yield breach("no-program", first, message, "name the program first")
    elif isinstance(first, Scalar) and not is_joined and _WORDS.match(first.value):
        message = f"no program is called {first.value!r}, blanks included: the container does not start"
        yield breach("no-program", first, message, "make each word an item of its own")
    last = words[-1] if len(words) > 1 else None
    script = next((word for word in operands if not (isinstance(word, Scalar) and word.value.startswith("-"))), None)
    has_flag = any(isinstance(word, Scalar) and _SHELL_FLAG.match(word.value) for word in operands)
    is_shell = isinstance(first, Scalar) and PurePosixPath(first.value).name in _SHELLS[:_REAL_SHELLS]
    has_script = args is not None and not (isinstance(args, SequenceNode) and not args.items)
    if is_shell and isinstance(last, Scalar) and _SHELL_FLAG.match(last.value) and not has_script:
        message = f"nothing follows {last.value}: the shell has no script, and fails"
        yield breach("no-program", last, message, "add the script")
    elif is_shell and isinstance(script, Scalar) and not has_flag and re.search(r"\s", script.value.strip()):
        message = "the shell takes this script for the name of a file"
        yield breach("no-program", script, message, "put -c before it")


def _of_variables(container: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find names in the values of variables that no variable above has, and one nearly: Kubernetes leaves them."""
    own = variables.find(container, parsed)
    listed = {id(each.get("name")) for each in mappings(container.get("env"))}
    above = {name for name, place in own.named.items() if id(place) not in listed}  # those of ConfigMaps
    for env in mappings(container.get("env")):
        value = env.scalar("value")
        for name in dict.fromkeys(_REFERENCE.findall(value.value)) if value else ():
            later = name in own.named and name not in above
            if later or (name not in above and own.complete and suggest(name, own.named)):
                message = (
                    f"{env.text('name')} is made of {name}, which {'stands below it' if later else 'is no variable'}"
                )
                hint = f"move {name} above it" if later else suggest(name, own.named)
                yield breach("undefined-variable", value or env, f"{message}: it gets the text $({name})", hint)
        above.add(env.text("name"))


def _goes_on(texts: list[Scalar]) -> Iterator[Finding]:
    """Find a script of several commands that a failed one does not stop: the run then ends with success."""
    for shell, script in ((texts[at - 1], texts[at]) for at in range(1, len(texts))):
        flags = [each.value for each in texts if each.value.startswith("-") and "\n" not in each.value]
        commands = [line for line in script.value.splitlines() if _COMMAND.match(line)]
        if not _SHELL_FLAG.match(shell.value) or len(commands) < _FEW or _STOPS.search(script.value):
            continue
        if not any(_SHELL_FLAG.match(flag) and "e" in flag for flag in flags):
            message = "a command of this script that fails does not stop it: the container may end with success"
            yield breach("script-goes-on", script, message, "begin it with set -e")


def _joined_opens(texts: list[Scalar], text: Scalar) -> bool:
    """Say whether a word is the mode of a chmod, each word of which is an item of the list."""
    return text.value in ("777", "0777", "a+rwx") and any(each.value in ("chmod", "mkdir", "-m") for each in texts)


def _references(texts: list[Scalar], container: MappingNode, parsed: Parsed, extra: Sequence[str]) -> Iterator[Finding]:
    """Find names that stay as they are: without a variable, or in the syntax of a shell."""
    own = variables.find(container, parsed)
    for text in texts:
        for name in dict.fromkeys(_REFERENCE.findall(text.value)):
            is_known = name in own.named or name in extra
            if own.complete and parsed.complete and not is_known and "\n" not in text.value:
                message = f"the container has no variable {name}: the program gets the text $({name})"
                hint = suggest(name, own.named) or "define it in env, or in a ConfigMap that envFrom names"
                yield breach("undefined-variable", text, message, hint)
        match = _SHELL_NAME.search(text.value) if "\n" not in text.value and container.get("command") else None
        if match:
            message = f"no shell reads {match.group()}: the program gets this text"
            hint = f"$({match[1] or match[2]}) is expanded by Kubernetes, if the container has the variable"
            yield breach("unexpanded-variable", text, message, hint)
