"""YAML of every form, made at random with fields that are bound by comments, and an account of what is bound.

A case knows which of its fields a set reaches, without asking the code under test; every comment in it is one of a
kind, so that one which is lost, or stands behind something else, can be seen. What reads the files (`leaves`,
`comments`) is PyYAML's own parser, which shares no code with libyaml's.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

KINDS = ("setters", "lists", "kpt", "version 1")
VALUES = (
    *("new", "2", "a b", "yes", "1.10", "08", "1e3", "null", "~", "true", "2020-01-01", "0x1F", "=", "<<", "no"),
    *("a: b", "a:", ":", "x # y", "#", "#x", "- z", "-", "? a", "?", "*a", "&a", "!t", "[x", "x]", "{", "}", ","),
    *("'q'", '"q"', "it's", "\\", "\\n", "%", "@x", "`", "|", ">", "|-", "---", "...", "--- a", "a,b", "k: [v]"),
    *(
        "",
        " ",
        " lead",
        "trail ",
        "a\nb",
        "a\nb\n",
        "\n",
        "\n\na",
        "a\n\n\nb",
        "a\n b",
        "a\t",
        "\ta",
        "a\tb",
        "x" * 200,
    ),
    *("größe", "日本", "😀", "\u2028", "a\u2029b", "\x85", "\ufeff", "\x07", "\x1b[0m", "\xa0", "a\r\nb", "${V}", "$1"),
    *('# {"$openapi":"V"}', '{"$openapi":"V"}', "# kpt-set: ${v}", "a " * 60),
)
#: Values that 3.8.7 and packyard write alike.
TAME_VALUES = ("new", "two", "a-b", "x/y", "n1", "a_b", "some.thing", "w" * 30)
LISTS: tuple[list[str], ...] = (
    *(["p"], ["p", "q"], ["a", "b"], ["b", "a"], ["a"], ["b"], ["a", "p", "b"], ["p", "a", "b", "q"], []),
    *(["a", "a"], ["1", "yes"], ["# x", "a: b"], ["b", "c", "d", "e"], ["a", "b", "c", "d"], ["it's", '"', ""]),
)
SCALARS = (
    *(
        "text",
        "'it''s'",
        '"quoted"',
        "1",
        "0644",
        "true",
        "~",
        '"a\\tb"',
        "!!str 1",
        "!own x",
        "http://x/y?z=1#f",
        "x#y",
    ),
    *('"# {}"', '\'{"$openapi":"V"}\'', "a b  c", "-1", "- 1".replace(" ", ""), ":x", "?x", '"\\u263a"', "1:30", "a,b"),
)
KPTFILE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: x}
pipeline:
  mutators:
  - image: apply-setters
"""
ODD = ("ünï", '"\\U0001F600"', "😀", "日本 語", '"\\N\\L\\_"', "a\xa0b", '"\u2028"')


@dataclass
class Case:
    """A package in memory, what to set in it, and what that changes."""

    kind: str
    definitions: str  # the Krmfile, or the Kptfile
    text: str
    values: dict[str, list[str]]
    fields: dict[tuple[Any, ...], str] = field(default_factory=dict)  # the new text of each bound scalar, by its path
    lists: set[tuple[Any, ...]] = field(default_factory=set)  # the paths of bound lists
    own: set[str] = field(default_factory=set)  # the comments of items of bound lists
    may_refuse: bool = False  # whether there is something in it that no edit is exact for
    mark: bool = False

    @property
    def data(self) -> bytes:
        return (b"\xef\xbb\xbf" if self.mark else b"") + self.text.encode()


class Maker:
    """Makes one case; ``tame`` leaves out what kustomize 3.8.7 cannot read, or loses."""

    def __init__(self, seed: int, *, tame: bool = False) -> None:
        self.rng = random.Random(seed)
        self.tame = tame
        self.kind = self.rng.choice(KINDS[:2] if tame else KINDS)
        self.lines: list[str] = []
        self.case = Case(self.kind, "", "", {})
        self.comments = 0
        self.anchors: list[str] = []
        self.new = self.rng.choice(TAME_VALUES if tame else VALUES)
        if self.kind == "version 1" and self.new == "old":
            self.new = "new"
        self.items = self.rng.choice(LISTS[:8] if tame else LISTS)

    def one_in(self, number: int) -> bool:
        return self.rng.randrange(number) == 0

    def make(self) -> Case:
        """Return a case; it may bind nothing."""
        documents = 1 if self.tame else self.rng.choice((1, 1, 1, 2, 3))
        for number in range(documents):
            if number or self.one_in(5):
                marks = ("---",) if self.tame else ("---", "--- # d", "---  ", "...\n---")
                self.lines.append(self.rng.choice(marks[: 3 + bool(number)]))
            self.anchors = []
            self.mapping("", 0, (number,), first=True)
            if self.one_in(6) and not self.tame:
                self.lines += ["", self.note()]
        newline = "\n" if self.tame or self.one_in(2) else self.rng.choice(("\n", "\r\n"))
        text = "\n".join(self.lines) + self.rng.choice(("\n",) if self.tame else ("\n", "\n", "", "\n\n"))
        self.case.text = text.replace("\n", newline)
        self.case.mark = not self.tame and self.one_in(8)
        self.definitions(newline)
        return self.case

    # What is written.

    def note(self) -> str:
        self.comments += 1
        more = self.rng.choice(
            ("", "", " note", " - x", ' "q"', " a: b", " {") if self.tame else ("", "", " ünï", " 😀 : {")
        )
        return f"# c{self.comments}{more}"

    def behind(self) -> str:
        if not self.one_in(4):
            return ""
        return self.rng.choice((" ",) if self.tame else (" ", "   ")) + self.note()

    def above(self, indent: str) -> None:
        """Write a comment on a line of its own, with blank lines around it or not."""
        note = indent + self.note()
        self.lines += [note] if self.tame else self.rng.choice(([note], [note], ["", note], [note, ""], ["", note, ""]))

    def key(self, number: int) -> str:
        odd = (
            ('"q{}"', "'s{}'", "a.b/{}")
            if self.tame
            else ('"q{}"', "'s{}'", "a.b/{}", "ü{}", "x y{}", '"a: {}"', "😀{}")
        )
        return self.rng.choice(odd).format(number) if self.one_in(6) else f"k{number}"

    def scalar(self, *, flow: bool = False) -> str:
        """Return a scalar that nothing binds."""
        if not self.tame and self.one_in(8):
            return self.rng.choice(ODD)
        if not flow and self.one_in(10):
            self.anchors.append(f"n{len(self.anchors)}_{self.comments}_{self.rng.randrange(10**6)}")
            return f"&{self.anchors[-1]} v"
        written = [name for name in self.anchors if any(f"&{name} " in line for line in self.lines)]
        if written and self.one_in(8):
            return f"*{self.rng.choice(written)}" + (" " if flow else "")
        found = self.rng.choice(SCALARS)
        if flow or self.tame:
            found = found if found.isalnum() or found[0] in "'\"" else "plain"
        return found

    def mapping(self, indent: str, depth: int, path: tuple[Any, ...], *, first: bool = False) -> None:
        """Write entries; with ``first`` the first key stands on a line of its own, else behind a dash."""
        for number in range(self.rng.randint(1, 4 if depth < 2 else 2)):
            own_line = first or number
            if own_line and self.one_in(5):
                self.above(indent)
            if own_line and not self.tame and self.one_in(12):
                self.lines.append(self.rng.choice(("", "  ", "")))
            name = self.key(number)
            start = indent if own_line else self.lines.pop()
            here = (*path, plain(name))
            if not self.tame and own_line and self.one_in(25):
                self.complex_entry(indent, name, here)
            else:
                self.value(f"{start}{name}:", indent, depth, here, in_item=not own_line)

    def complex_entry(self, indent: str, name: str, path: tuple[Any, ...]) -> None:
        """Write an entry whose key stands behind ``?``."""
        self.case.may_refuse = True
        if self.one_in(3):
            self.lines.append(f"{indent}? {name}" + self.behind())
            return
        self.lines.append(f"{indent}? {name}")
        self.value(f"{indent}:", indent, 3, path, in_item=True)

    def value(self, start: str, indent: str, depth: int, path: tuple[Any, ...], *, in_item: bool = False) -> None:
        """Write what stands behind a key or a dash."""
        choice = self.rng.randrange(12)
        if choice < 4:
            self.bound(start, indent, path, in_item=in_item)
        elif choice < 6 or depth > 3:
            self.lines.append(f"{start} {self.scalar()}{self.behind()}")
        elif choice == 6:
            self.block(start, indent)
        elif choice == 7:
            self.flow(start, indent, path)
        elif choice == 8:
            self.lines.append(start + (self.behind() if not start.endswith("-") else ""))
        elif choice == 9 and not start.rstrip().endswith("-"):
            self.lines.append(start + self.front() + self.behind())
            inner = indent + self.rng.choice(("  ", "  ", "    "))
            self.mapping(inner, depth + 1, path, first=True)
        else:
            self.sequence(start, indent, depth, path)

    def front(self) -> str:
        """Return an anchor or a tag of a collection, or nothing."""
        if self.tame or not self.one_in(8):
            return ""
        return self.rng.choice((" !!map", f" &m{self.rng.randrange(10**9)}", " !own"))

    def block(self, start: str, indent: str) -> None:
        header = self.rng.choice(("|", ">", "|-", "|+", ">-", "|2") if not self.tame else ("|", "|-"))
        if start.rstrip().endswith("-") or "- " in start:
            header = header.rstrip("2")
        self.lines.append(f"{start} {header}" + ("" if self.tame else self.behind()))
        inner = indent + "    " if "- " in start and not start.startswith(indent + "-") else indent + "  "
        inner = inner if not start.lstrip().startswith("-") else indent + "    "
        self.lines += [
            inner + line if line else "" for line in self.rng.choice((["x"], ["x # y", "", "z"], ["- a", "b: c"]))
        ]
        if not self.tame and self.one_in(3):
            self.lines.append("")

    def flow(self, start: str, indent: str, path: tuple[Any, ...]) -> None:
        texts = [self.scalar(flow=True) for _ in range(self.rng.randint(0, 3))]
        if self.kind == "setters" and self.one_in(3):
            self.bind_flow(start, indent, path)
        elif self.one_in(2):
            self.lines.append(f"{start} [{', '.join(texts)}]{self.behind()}")
        elif self.one_in(2) or self.tame:
            pairs = ", ".join(f"f{number}: {text}" for number, text in enumerate(texts))
            self.lines.append(f"{start} {{{pairs}}}{self.behind()}")
        else:
            self.lines += [f"{start} [", *(f"{indent}    {text},{self.behind()}" for text in texts), f"{indent}  ]"]

    def sequence(self, start: str, indent: str, depth: int, path: tuple[Any, ...]) -> None:
        nested = start.rstrip().endswith("-")
        if nested:  # a list in a list begins on the line of its dash
            self.lines.append(f"{start} ")
            inner = indent + "  "
        else:
            self.lines.append(start + self.front() + self.behind())
            inner = indent + self.rng.choice(("", "  ")) if ":" in start.strip()[:-1] + ":" else indent + "  "
        if start.rstrip() == f"{indent}:":
            inner = indent + "  "
        for number in range(self.rng.randint(1, 3)):
            begin = self.lines.pop() if nested and not number else inner
            if begin == inner and self.one_in(5):
                self.lines.append(inner + self.note())
            here = (*path, number)
            if self.one_in(4) and depth < 3:
                self.lines.append(f"{begin}- ")
                self.mapping(inner + "  ", depth + 1, here)
            elif depth < 3 and not self.tame and self.one_in(8):
                self.sequence(f"{begin}-", inner, depth + 1, here)
            else:
                self.leaf(f"{begin}-", inner, here)

    def leaf(self, start: str, indent: str, path: tuple[Any, ...]) -> None:
        if self.one_in(3):
            self.bound(start, indent, path, in_item=True)
        else:
            self.lines.append(f"{start} {self.scalar()}{self.behind()}")

    # What is bound.

    def bound(self, start: str, indent: str, path: tuple[Any, ...], *, in_item: bool) -> None:
        if self.kind == "version 1":
            self.bind_version1(start, path)
        else:
            bind = {"setters": self.bind_setter, "lists": self.bind_list, "kpt": self.bind_kpt}[self.kind]
            bind(start, indent, path, in_item)

    def is_free_above(self) -> bool:
        """Say whether a comment on the next line stands alone."""
        above = self.lines[-1].strip() if self.lines else ""
        return not above.startswith(("#", "---")) and above[-1:] not in ("|", ">", "+", "-")

    def old(self, *, properties: bool = True) -> str:
        """Return a scalar that reads ``old``."""
        found = self.rng.choice(("old", "old", '"old"', "'old'", '"o\\x6cd"'))
        if properties and not self.tame and self.one_in(8):
            found = (
                self.rng.choice((f"&b{self.rng.randrange(10**9)} ", "!!str ", f"!!str &b{self.rng.randrange(10**9)} "))
                + found
            )
            if "&" in found:
                self.anchors.append(found.split("&")[1].split()[0])
        return found

    def bind_setter(self, start: str, indent: str, path: tuple[Any, ...], in_item: bool) -> None:
        name, new = ("V", self.new) if not self.one_in(4) else ("P", f"a-{self.new}-z")
        written = self.old() if name == "V" else self.rng.choice(("a-old-z", '"a-old-z"', "'a-old-z'"))
        form = self.rng.choice(
            ('{{"$openapi":"{}"}}', '{{ "$openapi" : "{}" }}') if not self.tame else ('{{"$openapi":"{}"}}',)
        )
        comment = "# " + form.format(name)
        if not in_item and self.is_free_above() and self.one_in(3):
            self.lines.append(indent + comment)
            if not self.tame and self.one_in(3):
                self.bound_block(start, indent, written)
            else:
                self.lines.append(f"{start} {written}{self.behind()}")
        elif not self.tame and self.one_in(12):
            self.lines.append(f"{start} {comment}")  # a field without a value
        elif not self.tame and self.one_in(10):
            self.lines += [f'{start} "a', f'{indent}    b" {comment}']
        else:
            self.lines.append(f"{start} {written}{self.rng.choice((' ', '  '))}{comment}")
        self.case.fields[path] = new

    def bound_block(self, start: str, indent: str, written: str) -> None:
        note = "" if not self.one_in(4) else f" {self.note()}"
        header = self.rng.choice(("|", "|-", "|+", ">", ">-"))
        text = "a-old-z" if "a-old-z" in written else "old"
        self.lines += [f"{start} {header}{note}", f"{indent}  {text}", *([""] if self.one_in(3) else [])]

    def bind_flow(self, start: str, indent: str, path: tuple[Any, ...]) -> None:
        comment = '# {"$openapi":"V"}'
        if self.one_in(2):
            number = self.rng.randint(1, 3)
            self.lines.append(f"{start} [{', '.join(self.old(properties=False) for _ in range(number))}] {comment}")
            self.case.fields |= {(*path, at): self.new for at in range(number)}
        else:
            self.lines += [f"{start} {{f0: {self.old(properties=False)}, {comment}", f"{indent}    f1: x}}"]
            self.case.fields[(*path, "f0")] = self.new

    def bind_list(self, start: str, indent: str, path: tuple[Any, ...], in_item: bool) -> None:
        if start.rstrip().endswith(("-", " :")) or start.strip() == ":":
            self.lines.append(f"{start} {self.scalar()}{self.behind()}")
            return
        comment = '# {"$openapi":"L"}'
        old = ["a", "b", *(self.rng.choice((["c"], ["a"], [])) if not self.tame else [])]
        if not self.tame and self.one_in(10):
            old = old[:1]
        self.case.lists.add(path)
        if not in_item and self.is_free_above() and self.one_in(4):
            self.lines += [indent + comment, f"{start} [{', '.join(old)}]{'' if self.tame else self.behind()}"]
            return
        front = self.front().replace("!!map", "!!seq")
        self.case.may_refuse |= bool(front)
        self.lines.append(f"{start}{front} {comment}")
        inner = indent + self.rng.choice(("", "  "))
        first = self.comments
        for text in old:
            if self.one_in(4):
                self.above(inner)
            forms = [text, text, f"'{text}'", f'"{text}"']
            if not self.tame:
                forms += [
                    f"!!str {text}",
                    f"{{k: {text}}}",
                    f"|-\n{inner}  {text}",
                    f"|\n{inner}  x\n",
                    f"&i{self.rng.randrange(10**9)} {text}",
                ]
            lexeme = self.rng.choice(forms)
            head, *below = lexeme.split("\n")
            self.lines += [f"{inner}- {head}" + ("" if below else self.behind()), *below]
            if not self.tame and self.one_in(6):
                self.lines.append(f"{inner}  {self.note()}" if not below else "")
        self.case.own |= {f"# c{number}" for number in range(first + 1, self.comments + 1)}

    def bind_kpt(self, start: str, indent: str, path: tuple[Any, ...], in_item: bool) -> None:
        comment, old, new = self.rng.choice(
            (("${v}", "old", self.new), ("a-${v}", "a-old", f"a-{self.new}"), ("${v}:${w}", "old:w", f"{self.new}:w"))
        )
        forms = [old, f"'{old}'", f'"{old}"', f"!!str {old}", f"&k{self.rng.randrange(10**9)} {old}"]
        if ":" in old:
            forms = forms[1:3]
        self.case.fields[path] = new
        if self.one_in(6) and not in_item:
            header = self.rng.choice(("|-", ">-", "|"))
            self.lines += [f"{start} {header} # kpt-set: {comment}", f"{indent}  {old}"]
            return
        self.lines.append(f"{start} {self.rng.choice(forms)} # kpt-set: {comment}")

    def bind_version1(self, start: str, path: tuple[Any, ...]) -> None:
        declared = self.rng.choice(("string", "string", ""))
        if self.one_in(3):
            own: dict[str, object] = {"partialSetters": [{"name": "V", "value": "old"}]}
            text, new = "a-old-old", f"a-{self.new}-{self.new}"
        else:
            own, text, new = {"setter": {"name": "V", "value": "old"}}, "old", self.new
        comment = "# " + json.dumps({"type": declared, "x-kustomize": own}, separators=(",", ":"))
        lexeme = self.rng.choice((text, f"'{text}'", f'"{text}"', f"!!str {text}"))
        self.lines.append(f"{start} {lexeme} {comment}")
        self.case.fields[path] = new

    def definitions(self, newline: str) -> None:
        self.case.values = {"L": self.items} if self.kind == "lists" else {"V": [self.new]}
        if self.kind == "kpt":
            self.case.values = {"v": [self.new]}
            given = self.rng.choice(("{v: old, w: w}", '{v: "old", w: w} # given', "\n      v: old\n      w: w"))
            text = f"{KPTFILE}    configMap: {given}\n"
        else:
            text = self.krmfile()
        self.case.definitions = text.replace("\n", newline)

    def krmfile(self) -> str:
        setter, listed, more = self.definition()
        last = "\n" if self.tame else self.rng.choice(("\n", "\n", ""))
        substitution = (
            "    io.k8s.cli.substitutions.P:\n      x-k8s-cli:\n        substitution:\n          name: P\n"
            "          pattern: a-${V}-z\n          values:\n          - marker: ${V}\n"
            "            ref: '#/definitions/io.k8s.cli.setters.V'\n"
        )
        own = f"    io.k8s.cli.setters.V:\n      x-k8s-cli:\n        setter:\n{setter}\n{more}"
        lists = (
            "    io.k8s.cli.setters.L:\n      type: array\n      x-k8s-cli:\n        setter:\n          name: L\n"
            f"          listValues: {listed}\n"
        )
        parts = [own, lists, substitution]
        if not self.tame:
            self.rng.shuffle(parts)
        start = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"
        return (start + "".join(parts)).removesuffix("\n") + last

    def definition(self) -> tuple[str, str, str]:
        """Return the lines of one setter, the values of the other, which sets lists, and what is below the first."""
        listed = ["[a, b]", '["a", "b"]', "\n          - a\n          - b", "\n          - \"a\"\n          - 'b'"]
        if self.tame:
            return "          name: V\n          value: 'old'", listed[-1].replace("'", '"'), ""
        listed += [
            "\n            - a # one\n            # two\n            - 'b'\n",
            "\n          - |-\n            a\n          - b",
        ]
        listed += [
            "\n          - a # one\n\n          # two\n          - |\n            b\n",
            "&l [a, b]",
            "!!seq\n          - a",
        ]
        values = [
            "'old'",
            '"old"',
            "old",
            "'old'",
            '"o\\x6cd"',
            "!!str old",
            "|-\n            old",
            ">-\n            old\n",
            "",
        ]
        values += ["&v old", "&v 'old' # anchored", "|- # block\n            old"]
        value, chosen = self.rng.choice(values), self.rng.choice(listed)
        more = "      x-more: *v\n" if "&v" in value and self.one_in(2) else ""
        self.case.may_refuse |= bool(more) or chosen[0] in "&!"
        if self.one_in(6):
            return (
                self.rng.choice(("          {name: V, value: 'old'}", "          { value: old , name: V }")),
                chosen,
                "",
            )
        line = f"          value: {value}" + ("" if "\n" in value or "#" in value else self.behind())
        own = [f"          name: V{self.behind()}", line.rstrip() if not value else line]
        extras = self.rng.choice(((), ("isSet: true",), ("setBy: me",), ("setBy: me", "isSet: true")))
        own += [f"          {extra}{self.behind()}" for extra in extras]
        if self.one_in(3):
            own.insert(self.rng.randrange(len(own)), f"          {self.note()}")
        if self.one_in(3):
            own.reverse()
        if self.one_in(12):
            self.case.may_refuse = True
            own.insert(0, "          ? x-note\n          : true")
        return "\n".join(own), chosen, more


def plain(key: str) -> str:
    """Return what a key reads."""
    return yaml.safe_load(key) if key[0] in "'\"" else key


# How files are read, without the code under test.


def leaves(text: str) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Return what stands at each path of each document: scalars with text, tag and anchor; aliases; collections."""
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    events = yaml.parse(text, Loader=yaml.SafeLoader)
    number = -1

    def node(event: Any, path: tuple[Any, ...]) -> None:
        if isinstance(event, yaml.ScalarEvent):
            found[path] = ("scalar", event.value, event.tag, event.anchor, event.style is None)
        elif isinstance(event, yaml.AliasEvent):
            found[path] = ("alias", event.anchor)
        elif isinstance(event, yaml.SequenceStartEvent):
            found[path] = ("list", event.tag, event.anchor)
            for place, item in enumerate(iter(lambda: next(events), None)):
                if isinstance(item, yaml.SequenceEndEvent):
                    return
                node(item, (*path, place))
        else:
            found[path] = ("mapping", event.tag, event.anchor)
            for key in iter(lambda: next(events), None):
                if isinstance(key, yaml.MappingEndEvent):
                    return
                name = getattr(key, "value", None) or f"*{getattr(key, 'anchor', '')}"
                assert (*path, name) not in found
                node(next(events), (*path, name))

    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            number += 1
        elif isinstance(event, yaml.NodeEvent):
            node(event, (number,))
    return found


@dataclass(frozen=True)
class Remark:
    """A comment, what stands before it on its line, and what stands directly below one on a line of its own."""

    text: str
    behind: str | None
    below: str | None


def comments(text: str) -> list[Remark]:
    """Return the comments in their order."""
    scanned = yaml.scan(text, Loader=yaml.SafeLoader)
    tokens = [token for token in scanned if token.end_mark.index > token.start_mark.index]
    found: list[tuple[int, Remark]] = []
    for before, after in zip([None, *tokens], [*tokens, None], strict=True):
        start = before.end_mark.index if before else 0
        end = after.start_mark.index if after else len(text)
        for comment, at in _in_gap(text, start, end):
            own = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
            same_line = bool(text[own:at].strip(" \t\ufeff"))
            behind = getattr(before, "value", type(before).__name__) if same_line else None
            following = text[at + len(comment) : end]
            directly = following.count("\n") == 1 and not following.strip(" \t\r\n-") and not same_line
            below = next(
                (token.value for token in tokens if token.start_mark.index >= end and hasattr(token, "value")), None
            )
            found.append((at, Remark(comment, behind, str(below) if directly else None)))
    for token in tokens:  # behind the headers of block scalars
        if isinstance(token, yaml.ScalarToken) and token.style in ("|", ">"):
            header = text[token.start_mark.index : token.end_mark.index].splitlines()[0]
            if "#" in header:
                comment = header[header.index("#") :].rstrip(" \t")
                found.append((token.start_mark.index, Remark(comment, "block", None)))
    return [remark for _, remark in sorted(found, key=lambda one: one[0])]


def _in_gap(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    at = text.find("#", start, end)
    while at >= 0:
        stop = min((place for sign in "\r\n" if (place := text.find(sign, at)) >= 0), default=len(text))
        yield text[at : min(stop, max(end, stop))].rstrip(" \t"), at
        at = text.find("#", stop, end)
