"""Packages from a grammar of harm: Krmfiles and resources that are huge, deep, cyclic, mistyped, odd, or no YAML."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

NAMES = [
    "A",
    "B",
    "C",
    "S0",
    "S1",
    "S2",
    "x y",
    "a/b",
    "ä",
    "%2e",
    "",
    "A\\nB",
    "null",
    "1",
    "__proto__",
    "{}",
    "S" * 300,
]
ODD = ["\u202e", "\u2028", "\ufeff", "\U0001f600", "e\u0301", "\x85", "\u00a0", "\x7f", "\x1b[2J", "\x1b]0;T\x07", "\t"]


class Grammar:
    """Makes texts at random; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, *choices: Callable[[], str] | str) -> str:
        found = self.random.choice(choices)
        return found if isinstance(found, str) else found()

    def rarely(self, odd: Callable[[], str], usual: Callable[[], str] | str, chance: float = 0.15) -> str:
        if self.random.random() < chance:
            return odd()
        return usual if isinstance(usual, str) else usual()

    # Values.

    def odd_value(self) -> str:
        """Return a value that stands where another kind is expected."""
        size = self.random.choice([3, 30, 300, 3000])
        return self.one(
            *("~", "[]", "{}", "[[]]", "{a: {b: c}}", "true", "-1", "1e999", ".nan", "0x1F", "2020-01-01", "!!int x"),
            *(
                "!!binary aGk=",
                "!!python/object:os.system x",
                "!x y",
                "&a b",
                "*a",
                "*nothing",
                "&a [*a]",
                "'",
                '"',
                "|",
            ),
            *(
                "<<",
                "? a",
                "- b",
                "@x",
                "%x",
                "`x",
                "#",
                ": :",
                "{<<: *a}",
                "!!set {a, b}",
                '"\\ud800"',
                '"\\0"',
                "9" * 5000,
            ),
            lambda: "[" * size + "]" * size,
            lambda: "{a: " * size + "1" + "}" * size,
            lambda: "x" * (size * 100),
            lambda: '"' + "\\u0041" * size + '"',
            lambda: "[" + ", ".join(["1"] * size) + "]",
            lambda: json.dumps("".join(self.random.choices(ODD, k=5)), ensure_ascii=False),
            lambda: "&b0 [x, x], " + ", ".join(f"&b{n} [*b{n - 1}, *b{n - 1}]" for n in range(1, 30)),
        )

    def text(self) -> str:
        return self.one('""', "x", '"1"', "'a: b'", "abc", json.dumps("a\nb"), '"${A}"', "/data", "10.0.0.5")

    def value(self, *usual: str) -> str:
        return self.rarely(self.odd_value, lambda: self.random.choice(usual or (self.text(),)))

    # Definitions.

    def keywords(self) -> list[str]:
        known: dict[str, tuple[str, ...]] = {
            "type": ("integer", "string", "array", "number", "boolean", "object", "[integer, string]"),
            "pattern": ("^(a+)+$", "'('", "'(?=a)'", "'^(/.*)?$'", '"\\\\C"', "'(a?){1000}a{1000}'", "'\\pL{1000}'"),
            "maximum": ("8", "1e3", "'8'", ".inf"),
            "multipleOf": ("0.1", "0", "-1", "3"),
            "enum": ("[a, b]", "[1, 2]", "a"),
            "maxLength": ("3", "1.5", "-1"),
            "nullable": ("true", "yes"),
            "items": ("{type: integer}", "[]", "{pattern: '('}"),
            "description": ("What it is.", json.dumps("".join(ODD))),
            "example": ("x", "4", "[a]"),
            "default": ("x", "4"),
            "format": ("port", "ipv4", "image", "nonsense"),
        }
        chosen = self.random.sample(sorted(known), self.random.randint(0, 4))
        return [f"{key}: {self.value(*known[key])}" for key in chosen] + chosen[:0]

    def setter(self, name: str) -> list[str]:
        entries = [f"name: {self.value(json.dumps(name))}", f"value: {self.value()}"]
        for key, usual in (("required", "true"), ("isSet", "true"), ("listValues", "[a, b]"), ("setBy", "me")):
            if self.random.random() < 0.3:
                entries.append(f"{key}: {self.value(usual)}")
        if self.random.random() < 0.1:
            entries.append(f"enumValues: {self.value('{s: 1, m: 2}')}")
        if self.random.random() < 0.1:
            entries.append(entries[0])  # a key that is there twice
        body = "x-k8s-cli: {setter: {" + ", ".join(entries) + "}}"
        return [f"io.k8s.cli.setters.{name}:", *(f"  {line}" for line in self.keywords()), f"  {body}"]

    def substitution(self, name: str) -> list[str]:
        values = [
            f"{{marker: {self.value(chr(39) + '${x}' + chr(39), 'a')}, ref: {self.value(repr(self.ref()))}}}"
            for _ in range(self.random.randint(0, 3))
        ]
        pattern = self.value("'${x}${x}'", "'a${x}'", "x")
        body = f"{{name: {json.dumps(name)}, pattern: {pattern}, values: [{', '.join(values)}]}}"
        return [f"io.k8s.cli.substitutions.{name}:", f"  x-k8s-cli: {{substitution: {body}}}"]

    def ref(self) -> str:
        kind = self.one("setters", "substitutions", "nonsense", "")
        return f"#/definitions/io.k8s.cli.{kind}.{self.random.choice(NAMES[:6])}"

    def rule(self) -> str:
        rules = [
            *(
                "A == B",
                "int(A) > 0",
                "A.matches('(a|aa)+$')",
                "has(A) && has(B)",
                "(" * 60 + "A" + ")" * 60,
                "A +",
                "1 < 2",
            ),
            *("A" + " + A" * 30 + " == ''", "quantity(A) < quantity('1')", "double(A) / 0.0 > 1.0", "A in ['a']", "é"),
        ]
        return f"{{rule: {self.value(json.dumps(self.random.choice(rules)))}, message: {self.value('No.')}}}"

    def krmfile(self) -> str:
        lines = ["apiVersion: config.k8s.io/v1alpha1", "kind: Krmfile", "openAPI:", "  definitions:"]
        for _ in range(self.random.choice([0, 1, 3, 5, 5, 200])):
            name = self.random.choice(NAMES[:6] if self.random.random() < 0.8 else NAMES)
            made = self.substitution(name) if self.random.random() < 0.4 else self.setter(name)
            lines += [f"    {line}" for line in made]
        if self.random.random() < 0.3:
            chain = self.random.choice([40, 1000])
            for number in range(chain):
                below = f"substitutions.S{number - 1}" if number else "setters.A"
                values = f"[{{marker: '${{x}}', ref: '#/definitions/io.k8s.cli.{below}'}}]"
                body = f"{{name: S{number}, pattern: '${{x}}${{x}}', values: {values}}}"
                lines.append(f"    io.k8s.cli.substitutions.S{number}: {{x-k8s-cli: {{substitution: {body}}}}}")
        if self.random.random() < 0.4:
            lines.append("rules:")
            lines += [f"- {self.rule()}" for _ in range(self.random.choice([1, 3, 200]))]
        if self.random.random() < 0.1:
            lines += [f"options: {self.value('[{name: o}]')}"]
        return "\n".join(lines) + "\n"

    # Resources.

    def resource(self) -> str:
        head = [
            "apiVersion: v1",
            f"kind: {self.value('ConfigMap', 'Service', 'Deployment')}",
            "metadata: {name: x}",
            "data:",
        ]
        for number in range(self.random.choice([1, 3, 10, 500])):
            name = self.random.choice(NAMES[:6])
            comment = self.one(
                f'# {{"$openapi":"{name}"}}',
                f'# {{"$ref":"{self.ref()}"}}',
                f'# {{"$kpt-set":"{name}"}}',
                f"# kpt-set: ${{{name}}}-${{B}}",
                '# {"$openapi":' + '"' * self.random.randint(0, 3),
                '# {"$openapi":"' + "A" * 3000 + '"}',
            )
            head.append(f"  k{number}: {self.value()} {comment}")
        if self.random.random() < 0.3:
            head += ['args: # {"$openapi":"A"}', "- a # one", "- |", "  b", "after: 1"]
        return "\n".join(head) + "\n"

    # Files.

    def spoiled(self, text: str) -> bytes:
        """Return the bytes of a file, now and then not those of its text."""
        data = text.encode("utf-8", "surrogatepass")
        kind = self.random.random()
        place = self.random.randrange(len(data) + 1)
        if kind < 0.75:
            return data
        spoils: list[Callable[[], bytes]] = [
            lambda: data[:place],
            lambda: data[:place] + bytes([self.random.randrange(256)]) + data[place + 1 :],
            lambda: data[:place] + b"\0" + data[place:],
            lambda: data.replace(b"\n", b"\r\n"),
            lambda: b"\xef\xbb\xbf" + data,
            lambda: text.encode("utf-16", "surrogatepass"),
            lambda: data + b"---\n" + data,
            lambda: data + b"...\ngarbage: [",
            lambda: b"",
            lambda: b"# nothing\n",
            lambda: b"{" * 20_000,
            lambda: b"- " * 20_000,
            lambda: b"a: &a [" + b"*a, " * 20_000 + b"]",
            lambda: data.replace(b"  ", b"\t"),
            lambda: bytes(self.random.randrange(256) for _ in range(300)),
        ]
        return self.random.choice(spoils)()

    def package(self, folder: Path) -> None:
        """Write a package."""
        folder.mkdir(parents=True)
        (folder / "Krmfile").write_bytes(self.spoiled(self.krmfile()))
        (folder / "cm.yaml").write_bytes(self.spoiled(self.resource()))
        (folder / "kustomization.yaml").write_bytes(self.spoiled("resources:\n- cm.yaml\n"))
