"""Whatever the file: creating binds exactly the fields with the value, and deleting restores the bytes."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from packyard.core.errors import InputError
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Assignment, plan
from packyard.writing.authoring.create import NewSetter, create_setter
from packyard.writing.authoring.delete import delete_setter
from sample import tries

EXAMPLES = tries(200)
KRMFILE = b"apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n"

SCALARS = st.sampled_from(["v", '"v"', "'v'", "w", "3", "", "&a v", "!!str v", "vv", "\\v", '"\\x76"'])
NOTES = st.sampled_from(["", "", " # note", "   # v", '  # {"$openapi":"other"}'])
ABOVE = st.sampled_from(["", "", "# above\n", "# one\n# two\n", "\n"])


@st.composite
def files(draw: st.DrawFn, *, notes: bool) -> str:
    """Draw a file of block mappings and lists, some of them in brackets, with comments; its breaks are one kind."""
    lines: list[str] = []

    def behind() -> str:
        return draw(NOTES) if notes else ""

    def value(indent: str, start: str, depth: int) -> None:
        kind = draw(st.integers(0, 7))
        if kind <= 3 or depth > 2:
            lines.append(f"{start} {draw(SCALARS)}".replace("&a", f"&a{len(lines)}").rstrip() + behind())
        elif kind == 4:
            lines.extend([f"{start} |-", f"{indent}  {draw(st.sampled_from(['v', 'w']))}"])
        elif kind == 5 and notes:
            lines.append(f"{start} [{draw(st.sampled_from(['v, w', 'w, v', 'v', '{a: v, b: v}']))}]")
        elif kind == 6:
            lines.append(start)
            for _ in range(draw(st.integers(1, 3))):
                value(indent + "  ", f"{indent}-", depth + 1)
        else:
            lines.append(start)
            mapping(indent + "  ", depth + 1)

    def mapping(indent: str, depth: int) -> None:
        for number in range(draw(st.integers(1, 3))):
            lines.extend(indent + line if line else "" for line in draw(ABOVE).split("\n")[:-1])
            value(indent, f"{indent}k{number}:", depth)

    for number in range(draw(st.integers(1, 2))):
        lines.extend(["---"] if number else [])
        mapping("", 0)
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return newline.join(lines) + draw(st.sampled_from(["", newline]))


def changed(data: object) -> object:
    if isinstance(data, dict):
        return {key: changed(value) for key, value in data.items()}
    if isinstance(data, list):
        return [changed(item) for item in data]
    return "z" if data == "v" else data


def load(data: bytes) -> list[Any]:
    return list(yaml.load_all(data, yaml.CBaseLoader))


def created(text: str) -> PackageFiles | None:
    """Create the setter, or return None where that is refused."""
    package = PackageFiles(KRMFILE, {"r.yaml": text.encode()})
    try:
        made = create_setter(package, NewSetter(name="n", value="v"))
    except InputError:
        return None
    return PackageFiles(made.plan.files["Krmfile"], {"r.yaml": made.plan.files.get("r.yaml", text.encode())})


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(files(notes=True))
def test_a_created_setter_sets_exactly_the_fields_that_had_the_value(text: str) -> None:
    package = created(text)
    assume(package is not None)
    assert package is not None
    assert load(package.resources["r.yaml"]) == load(text.encode())
    after = plan(package, Assignment({"n": ["z"]})).files.get("r.yaml", package.resources["r.yaml"])
    assert load(after) == [changed(document) for document in load(text.encode())]


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(files(notes=False))
def test_deleting_a_created_setter_restores_the_bytes(text: str) -> None:
    package = created(text)
    assume(package is not None)
    assert package is not None
    files = delete_setter(package, "n").files
    assert files.get("r.yaml", package.resources["r.yaml"]) == text.encode()
    assert files["Krmfile"] == KRMFILE
