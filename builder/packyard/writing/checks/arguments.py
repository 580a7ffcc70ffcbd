"""Variables in commands: Kubernetes puts in the value of ``$(NAME)``, if the container has it, and else the text stays.

args: [--output=$(OUTPUT_DIR)]        needs OUTPUT_DIR in env, or in a ConfigMap that envFrom names
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from packyard.core.errors import suggest
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

#: Programs that have a syntax of their own for what they are told.
_SHELLS = ("sh", "bash", "ash", "dash", "zsh", "ksh", "env", "eval", "envsubst")
_REFERENCE = re.compile(r"(?<!\$)\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")


def check(subject: Subject) -> Iterator[Finding]:
    """Find names of variables that nothing defines, in the words and the variables of containers."""
    for root in subject.objects:
        for container in subject.containers_of(root):
            yield from _of_words(container, subject, variables.of_controllers(root))
            yield from _of_variables(container, subject)


def _of_words(container: MappingNode, subject: Subject, extra: Sequence[str]) -> Iterator[Finding]:
    texts = list(variables.words(container))
    own = variables.find(container, subject)
    in_shell = any(PurePosixPath(word).name in _SHELLS for text in texts for word in text.value.split())
    if in_shell or container.get("source") is not None or not (own.complete and subject.complete):
        return
    for text in (scalar for scalar in texts if "\n" not in scalar.value):
        for name in dict.fromkeys(_REFERENCE.findall(text.value)):
            if name not in own.values and name not in extra:
                message = f"the container has no variable {name}: the program gets the text $({name})"
                hint = suggest(name, own.values) or "define it in env, or in a ConfigMap that envFrom names"
                yield breach("undefined-variable", text, message, hint)


def _of_variables(container: MappingNode, subject: Subject) -> Iterator[Finding]:
    """Find names in the values of variables that no variable above has, and one nearly: Kubernetes leaves them."""
    own = variables.find(container, subject)
    above = set(own.shared)
    for env in mappings(container.get("env")):
        value = env.scalar("value")
        for name in dict.fromkeys(_REFERENCE.findall(value.value)) if isinstance(value, Scalar) else ():
            later = name in own.values and name not in above
            if later or (name not in above and own.complete and suggest(name, own.values)):
                fault = "stands below it" if later else "is no variable"
                message = f"{env.text('name')} is made of {name}, which {fault}: it gets the text $({name})"
                hint = f"move {name} above it" if later else suggest(name, own.values)
                yield breach("undefined-variable", value or env, message, hint)
        above.add(env.text("name"))
