"""What the writers of kustomize 3.8.7 and 4.5.4 leave alone, judged by both on texts that are made by chance."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

import real
import tiny
from packyard.core.errors import InputError
from packyard.core.yaml.fixedpoint import find
from packyard.core.yaml.node import Source

MARK = 'x: a # {"$openapi":"X"}\n'
KRMFILE = """\
apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
openAPI:
  definitions:
    io.k8s.cli.setters.X:
      x-k8s-cli: {setter: {name: X, value: "a"}}
"""
SOUND = tiny.text("fixed-point/sound.yaml")


@pytest.mark.nightly
def test_leaves_alone_what_both_leave_alone(tmp_path: Path) -> None:
    assert [str(problem) for problem in find(Source("a.yaml", SOUND))] == []
    ((old, new),) = _written([MARK + SOUND], tmp_path)
    assert old == new == MARK + SOUND


LONG = "word " * 17
#: A text, the line of the finding, and how it begins.
FAULTS = [
    ("a: 1\n\nb: 1\n", 2, "kustomize removes blank lines"),
    ("a:  1\n", 1, "kustomize writes this in another way (it writes: a: 1)"),
    ("a: {b: 1,c: 2}\n", 1, "kustomize writes this in another way (it writes: a: {b: 1, c: 2})"),
    ("a:\n  - b\n", 2, "kustomize writes this in another way (it writes: - b)"),
    ("a: 1  # b\n", 1, "kustomize writes this in another way (it writes: a: 1 # b)"),
    ("a: [b:c]\n", 1, "kustomize writes this in another way (it writes: a: ['b:c'])"),
    ('a: "\\u00e9"\n', 1, 'kustomize writes this in another way (it writes: a: "é")'),
    ("a: |\n    b\n", 2, "kustomize writes this in another way (it writes: b)"),
    ("a: |\n  b \n", 1, 'kustomize writes this in another way (it writes: a: "b \\n")'),
    ("a: |- # b\n  c\n", 1, "kustomize writes this in another way"),
    ("a: b\n  c\n", 1, "kustomize writes this in another way (it writes: a: b c)"),
    ("a: [b,\n  c]\n", 1, "kustomize writes this in another way (it writes: a: [b, c])"),
    ("a: >-\n  b\n", 1, "kustomize writes this in another way"),
    ("a: <<\n", 1, "kustomize writes this in another way (it writes: a: !!merge <<)"),
    ("---\na: 1\n", 1, "kustomize writes this in another way"),
    ("a: 1", 1, "kustomize ends the last line with a line feed"),
    ("a: 1\r\n", 1, "kustomize ends lines with a line feed alone"),
    (f"a: {LONG}end\n", 1, "kustomize 3.8.7 breaks this line behind column 80, and 4.5.4 joins it again"),
    (f"a: '{LONG}end'\n", 1, "kustomize 3.8.7 breaks this line behind column 80"),
    (f'a: "{LONG}end"\n', 1, "kustomize 3.8.7 breaks this line behind column 80"),
    (f"a: [{', '.join(LONG.split())}, b]\n", 1, "kustomize 3.8.7 breaks this line behind column 80"),
    (f"a: [{'b' * 90}, c]\n", 1, "kustomize 3.8.7 breaks this line behind column 80"),
    ("a: 1 # Größe\n", 1, "kustomize 3.8.7 damages comments that are not ASCII"),
    ("a:\n- b\n# c\n- {d: 1}\n", 3, "kustomize loses or moves a comment here"),
    ("a:\n# c\n- &d\n  e: 1\n", 2, "kustomize loses or moves a comment here"),
    ("a:\n- # b\n  c: 1\n", 2, "kustomize writes this in another way"),
    ("a:\n  b: 1\n # c\nd: 1\n", 3, "kustomize moves this comment"),
    ("metadata:\n  annotations: {}\n", 2, "kustomize removes empty annotations"),
    ("metadata:\n  annotations: {config.kubernetes.io/path: a}\n", 2, "kustomize removes the annotation config"),
]


@pytest.mark.parametrize(("text", "line", "expected"), FAULTS)
def test_finds_what_is_written_otherwise_by_its_line(text: str, line: int, expected: str) -> None:
    (problem,) = find(Source("a.yaml", text))
    assert problem.line == line
    assert (problem.message + (f" ({problem.hint})" if problem.hint else "")).startswith(expected)


@pytest.mark.parametrize(
    "text",
    [f"a: {'b' * 90}\n", f"a: [{'b' * 90}]\n", f"a: 1 # {LONG}end\n", f"a: |\n  {LONG}end\n", f"a: {'b' * 90} c\n"],
)
def test_a_long_line_without_a_place_to_break_it_stays(text: str) -> None:
    assert bool(find(Source("a.yaml", text))) == text.endswith(" c\n")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_both_writers_on_texts_made_by_chance(seed: int, tmp_path: Path) -> None:
    """What it leaves alone, both do; what it finds, one changes, but that it is stricter about comments."""
    chance = random.Random(seed)
    texts = [text for text in (_Made(chance).text() for _ in range(250)) if _is_yaml(text)]
    stable = 0
    for text, written in zip(texts, _written(texts, tmp_path), strict=True):
        found = find(Source("a.yaml", text))
        if set(written) != {text}:
            assert found, (text, *written)
        elif not any("comment" in problem.message for problem in found):
            assert [str(problem) for problem in found] == [], text
            stable += 1
    assert 100 < stable < 240


def _is_yaml(text: str) -> bool:
    """Say whether a text is one still, now that it may be spoiled."""
    try:
        find(Source("a.yaml", text))
    except InputError:
        return False
    return True


def _written(texts: list[str], folder: Path) -> list[tuple[str, ...]]:
    """Return each text as both kustomizes write it when they set X to the value that it has."""
    return list(zip(*(_set(name, texts, folder / name) for name in ("kustomize-3", "kustomize-4")), strict=True))


def _set(name: str, texts: list[str], folder: Path) -> list[str]:
    program = real.pinned_program(name)
    folder.mkdir()
    (folder / "Krmfile").write_text(KRMFILE)
    files = [folder / f"{number:03}.yaml" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    done = subprocess.run([program, "cfg", "set", folder, "X", "a"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [file.read_text() for file in files]


WORDS = ("alpha", "beta", "x", "-bind-to", "$(OUT)", "longerword")
PLAIN = (
    "a",
    "true",
    "0644",
    "$(X)",
    "/data/x",
    "a=b;c",
    "--flag=$(V)",
    "x:y",
    "^openib",
    "a b",
    "~",
    "1.5",
    "a#b",
)
QUOTED = ("-", "metadata.annotations['p']", "{b}", "a,b", "@b", "%b", "it's", 'say "x"', "a: b", "", "*.py")


class _Made:
    """Makes texts in the layout of both, with anchors, comments and long lines; of five, one is spoiled a little."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._lines: list[str] = []
        self._anchors: list[str] = []
        self._number = 0

    def text(self) -> str:
        """Return one text."""
        head = self._chance.choice(["", "# head of file\n", "# head\n# of two lines\n"])
        self._mapping("", self._chance.choice([1, 2, 3, 4]))
        lines = [*self._lines, "# tail"] if self._is(0.05) else self._lines
        text = "".join(f"{line}\n" for line in (self._spoiled(lines) if self._is(0.2) else lines))
        return head + MARK + text

    def _is(self, share: float) -> bool:
        return self._chance.random() < share

    def _words(self, *numbers: int) -> str:
        return " ".join(self._chance.choices(WORDS, k=self._chance.choice(numbers)))

    def _next(self, kind: str) -> str:
        self._number += 1
        return f"{kind}{self._number}"

    def _mapping(self, indent: str, depth: int, first: str = "") -> None:
        for index in range(self._chance.choice([1, 2, 3])):
            self._begin(indent, index == 0 and first)
            self._value((first if index == 0 and first else indent) + self._next("key") + ":", indent, depth)
            if self._is(0.03):
                self._lines.append(f"{indent}# foot")

    def _list(self, indent: str, depth: int, first: str = "") -> None:
        for index in range(self._chance.choice([1, 2, 3])):
            self._begin(indent, index == 0 and first)
            self._value((first if index == 0 and first else indent) + "-", indent, depth)

    def _begin(self, indent: str, is_inside: object) -> None:
        if not is_inside and self._is(0.08):
            self._lines += [f"{indent}# {self._words(1, 3, 20)}"] * self._chance.choice([1, 2])

    def _value(self, start: str, indent: str, depth: int) -> None:
        anchor = self._next("name") if self._is(0.12) else ""
        mark = f" &{anchor}" if anchor else ""
        kind = self._chance.random()
        if depth and kind < 0.45:
            self._below(start, mark, indent, depth - 1)
        elif kind < 0.55:
            self._block(f"{start}{mark}", f"{indent}  ")
        elif kind < 0.62 and self._anchors:
            self._lines.append(f"{start} *{self._chance.choice(self._anchors)}{self._comment()}")
            return
        else:
            self._lines.append(
                f"{start}{mark} {self._flow(self._chance.choice([0, 0, 1, 2]), top=True)}{self._comment()}"
            )
        self._anchors += [anchor] if anchor else []

    def _below(self, start: str, mark: str, indent: str, depth: int) -> None:
        is_mapping, is_item = self._is(0.55), start.endswith("-")
        below = self._mapping if is_mapping else self._list
        if is_item and not mark:
            below(f"{indent}  ", depth, f"{start} ")
            return
        self._lines.append(start + (mark or self._comment()))
        below(f"{indent}  " if is_mapping or is_item else indent, depth)

    def _block(self, start: str, indent: str) -> None:
        lines = [self._words(1, 3, 12, 18), *(self._words(0, 1, 3, 18) for _ in range(self._chance.choice([0, 2])))]
        text = "\n".join(("  " if line and self._is(0.1) else "") + line for line in lines).rstrip()
        self._lines.append(f"{start} |{'2' if text[0] == ' ' else ''}{self._chance.choice(['-', ''])}")
        self._lines += [indent + line if line else "" for line in text.split("\n")]

    def _flow(self, depth: int, *, top: bool = False) -> str:
        if not depth or self._is(0.3):
            alias = f"*{self._chance.choice(self._anchors)}" if self._anchors and not top and self._is(0.1) else ""
            return alias or self._scalar()
        parts = [self._flow(depth - 1) for _ in range(self._chance.choice([0, 1, 2, 2, 3, 5]))]
        if self._is(0.5):
            return f"[{', '.join(parts)}]"
        return "{" + ", ".join(f"k{index}: {part}" for index, part in enumerate(parts)) + "}"

    def _scalar(self) -> str:
        if self._is(0.5):
            return self._chance.choice(PLAIN)
        text = self._chance.choice(QUOTED) if self._is(0.6) else f"a {self._words(1, 3, 12, 18)}"
        if text.startswith("a ") and self._is(0.5):
            return text
        return f'"{text}"' if '"' not in text and self._is(0.5) else "'" + text.replace("'", "''") + "'"

    def _comment(self) -> str:
        return f" # {self._words(1, 3, 20)}" if self._is(0.12) else ""

    def _spoiled(self, lines: list[str]) -> list[str]:
        index = self._chance.randrange(len(lines))
        old, new = self._chance.choice([(" #", "  #"), (": ", ":  "), ("[", "[ "), (", ", ","), ("", "# inserted\n")])
        changed = lines[index].replace(old, new, 1) if old else f"{'  ' * self._chance.randrange(3)}{new}{lines[index]}"
        return [*lines[:index], *changed.split("\n"), *lines[index + 1 :]]
