"""JSON pointers, as RFC 6901 has them: ``/metadata/annotations/example.com~1a``."""

from collections.abc import Iterable


def pointer(path: Iterable[str | int]) -> str:
    """Write the pointer of a path."""
    return "".join(f"/{escaped(str(step))}" for step in path)


def escaped(step: str) -> str:
    """Write one step."""
    return step.replace("~", "~0").replace("/", "~1")


def steps(pointer: str) -> list[str]:
    """Return the steps of a pointer; what stands before its first slash is none."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
