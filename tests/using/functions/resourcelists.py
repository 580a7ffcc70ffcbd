"""ResourceLists, the standard input of KRM functions: made of files, generated from a seed, and what they say."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import yaml

from packyard.core.yaml.values import double_quoted, implicit_type

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
NAMES = ("app", "image", "tag", "zones", "x y", "a.b", "n")

PATTERNS = (
    *("${app}", "${app}", "${tag}", "${image}:${tag}", "${image}:${tag}", "${app}-${tag}", "pre-${app}", "${app}-post"),
    *("${app}/${image}/${tag}", "${app}${tag}", "${app}-${app}", "${x y}", "${a.b}", "text", "${}", "${app", "$app"),
    *("${app} # more", "${other}", "${other}-${app}", "a.${app}.(b)", "${n}", "${zones}", "{app}", "${ app }"),
)
PREFIXES = ("# kpt-set: ",) * 12 + (
    "# kpt-set:  ",
    "#kpt-set: ",
    "# kpt-set:",
    "## kpt-set: ",
    "# note kpt-set: ",
    "#  kpt-set: ",
)
LISTS = ("${zones}", "${zones}", "${zones}", "${app}", "${image}:${tag}", "pre-${zones}", "text", "${zones} # more")
TEXTS = (
    *("web", "web-1.7", "nginx:1.7", "a/b/c", "x", "3", "true", "1.5", "null", "~", "2001-01-01", "0644", "yes"),
    *("pre-web", "web-post", "a.web.(b)", "web-web", "kebab-case-name", "a b c", "gcr.io/p/nginx:1.7", "é日", "a:b"),
)
VALUES = (
    *(
        "shop",
        "1.8",
        "5",
        "true",
        "yes",
        "null",
        "~",
        "",
        " ",
        "x: y",
        "a # b",
        "- a",
        "[a, b]",
        "{a: b}",
        "*a",
        "a:",
        "it's",
    ),
    *(
        '"q"',
        "'q'",
        "é日",
        "a b",
        "[",
        "[]",
        "- a\n- b\n",
        "- a # one\n- 'b'\n",
        "[1, true, ~]",
        "a\nb",
        "0644",
        "1.10",
    ),
    *("[{a: b}, {c: 'd'}]", "[[a], []]", "- k: v\n  l: w\n- x\n", "#", "!", "%", "@", "`", "a\tb", "\\", "[a", "-"),
)


def resource_list(files: dict[str, str], config: str | None = None) -> bytes:
    """Write what an orchestrator sends: each document an item, with the file that it is from."""
    lines = ["apiVersion: config.kubernetes.io/v1", "kind: ResourceList", "items:"]
    for path, text in files.items():
        for index, document in enumerate(text.split("\n---\n") if path.endswith((".yaml", ".yml", "Kptfile")) else []):
            body = document.rstrip().splitlines()
            metadata = next(number for number, line in enumerate(body) if line.startswith("metadata:"))
            has_own = "  annotations:" in body[metadata:]
            at = body.index("  annotations:", metadata) + 1 if has_own else metadata + 1
            found = [] if has_own else ["  annotations:"]
            for prefix in ("internal.config.kubernetes.io", "config.kubernetes.io"):  # newer and older programs
                found += [f"    {prefix}/path: '{path}'", f"    {prefix}/index: '{index}'"]
            body[at:at] = found
            lines += ["- " + body[0], *("  " + line for line in body[1:])]
    if config:
        lines += ["functionConfig:", *("  " + line for line in config.splitlines())]
    return ("\n".join(lines) + "\n").encode()


def said(text: str) -> list[tuple[str, ...]]:
    """Return every scalar of a ResourceList's items with its path, its type, and the comment that belongs to it.

    Of a list the comment behind its key is said, or behind its brackets.
    """
    root = yaml.compose(text, Loader=yaml.CSafeLoader)
    lines = text.splitlines()
    items = next((value for key, value in root.value if key.value == "items"), None)
    return list(_below(items, "", lines)) if items else []


def _below(node: Any, path: str, lines: list[str]) -> Iterator[tuple[str, ...]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inside = f"{path}.{key.value}"
            if isinstance(value, yaml.SequenceNode):
                yield (
                    inside,
                    str(len(value.value)),
                    "list",
                    _comment(lines, (value if value.flow_style else key).end_mark),
                )
            yield from _below(value, inside, lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _below(item, f"{path}[{index}]", lines)
    elif isinstance(node, yaml.ScalarNode):
        kind = "string" if node.style or not node.tag.startswith("tag:yaml.org") else implicit_type(node.value)
        yield (
            path,
            "null" if kind == "null" else node.value,
            kind,
            _comment(lines, node.start_mark if node.style in ("|", ">") else node.end_mark),
        )


def _comment(lines: list[str], mark: Any) -> str:
    """Return the comment behind a place on its line, unless something else stands between."""
    rest = lines[mark.line][mark.column :] if mark.line < len(lines) else ""
    found = re.match(r"([&!]\S* |[|>][-+0-9]*|[ \t,:])*(#.*)", rest)
    return found.group(2).rstrip() if found else ""


def items(draw: random.Random) -> dict[str, str]:
    """Make the files of a package with fields of every form, tagged in every place."""
    files = {}
    for name in draw.sample(("a.yaml", "b.yaml", "sub/c.yaml"), draw.randint(1, 3)):
        documents = []
        for number in range(draw.choice((1, 1, 2))):
            head = f"apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: thing-{number}\n"
            documents.append(head + "".join(field(draw, f"k{place}") for place in range(draw.randint(1, 5))))
        files[name] = "---\n".join(documents)
    return files


def tagged(draw: random.Random, patterns: tuple[str, ...] = PATTERNS) -> str:
    """Write a comment, mostly one that tags."""
    return draw.choice(PREFIXES) + draw.choice(patterns)


def scalar(draw: random.Random) -> str:
    """Write a scalar on one line."""
    text = draw.choice(TEXTS)
    return draw.choice((text, text, text, f'"{text}"', f"'{text}'"))


def field(draw: random.Random, key: str) -> str:
    """Write a field."""
    forms = [
        lambda: f"{key}: {scalar(draw)} {tagged(draw)}\n",
        lambda: f"{key}:   {scalar(draw)}   {tagged(draw)}  \n",
        lambda: f"{key}: {tagged(draw, LISTS)}\n- {scalar(draw)}\n- {scalar(draw)}\n",
        lambda: (
            f"{key}: {tagged(draw, LISTS)}\n  - {scalar(draw)} {tagged(draw)}\n"
            f"  # {tagged(draw)}\n  - {scalar(draw)} # note\n"
        ),
        lambda: f"{key}: [{scalar(draw)}, b] {tagged(draw, LISTS)}\n",
        lambda: f"{key}: [] {tagged(draw, LISTS)}\n",
        lambda: f"{key}: {{a: {scalar(draw)}, b: 1}} {tagged(draw)}\n",
        lambda: f"{key}: {tagged(draw)}\n  inner: {scalar(draw)} {tagged(draw)}\n",
        lambda: f"{key}: | {tagged(draw)}\n  {draw.choice(TEXTS)}\n",
        lambda: f"{key}: |- {tagged(draw)}\n  {draw.choice(TEXTS)}\n",
        lambda: f"{key}: >- {tagged(draw)}\n  {draw.choice(TEXTS)}\n",
        lambda: f"{tagged(draw)}\n{key}: {scalar(draw)}\n",
        lambda: f"{tagged(draw)}\n{key}: {scalar(draw)} {tagged(draw)}\n",
        lambda: f"{key}: {scalar(draw)}\n{tagged(draw)}\n",
        lambda: (
            f"{key}:\n- name: {scalar(draw)} {tagged(draw)}\n  list: {tagged(draw, LISTS)}\n  - {scalar(draw)}\n- x\n"
        ),
        lambda: f"{key}: {tagged(draw)}\n",
        lambda: f"{key}:\n- - {scalar(draw)} {tagged(draw)}\n  - {scalar(draw)}\n",
        lambda: anchored(draw, key),
        lambda: f"{key}:\n  {scalar(draw)} {tagged(draw)}\n",
        lambda: f"{key}: [{scalar(draw)}, {tagged(draw)}\n  b, # c\n  c] {tagged(draw, LISTS)}\n",
        lambda: f'{key}: "two\n  words" {tagged(draw)}\n',
        lambda: f"{key}: plain\n  words {tagged(draw)}\n",
        lambda: f"{key}: !!str {scalar(draw)} {tagged(draw)}\n",
    ]
    return draw.choice(forms)()


def anchored(draw: random.Random, key: str) -> str:
    """Write a field with an anchor, and one that refers to it."""
    anchor = f"x{draw.randrange(10**9)}"
    return f"{key}: &{anchor} {scalar(draw)} {tagged(draw)}\n{key}2: *{anchor} {tagged(draw)}\n"


def configuration(draw: random.Random, *, some: bool = False) -> str:
    """Write a function's configuration: some names, with values of every sort."""
    names = draw.sample(NAMES, draw.randint(1 if some else 0, 3))
    data = "".join(f"  {double_quoted(name)}: {double_quoted(draw.choice(VALUES))}\n" for name in names)
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\n"
    return head + (f"data:\n{data}" if data else "data: {}\n")


def kptfile(draw: random.Random) -> dict[str, str]:
    """Make a Kptfile with pipelines of every form, and the files that it names."""
    entries = []
    for _ in range(draw.choice((0, 1, 1, 2, 3))):
        lines = [f"  - image: {draw.choice(('gcr.io/kpt-fn/apply-setters:v0.2', 'apply-setters:v0.1', 'set-labels'))}"]
        data = [f"      {double_quoted(name)}: {given(draw)}" for name in draw.sample(NAMES, draw.randint(1, 3))]
        lines += draw.choice(
            (
                ["    configMap:", *data],
                ["    configMap:", *data],
                ["    configMap: {}"],
                ["    configMap:"],
                ["    configPath: setters.yaml"],
                ["    configPath: absent.yaml"],
                ["    configPath: setters.yaml", "    configMap:", *data],
                [],
            )
        )
        entries.append("\n".join(lines))
    listed = "\n".join(entries)
    others = ("", "pipeline: {}", "pipeline:", f"pipeline:\n  validators:\n{listed}")
    pipeline = f"pipeline:\n  mutators:\n{listed}" if draw.random() < 0.7 else draw.choice(others)
    files = {"Kptfile": f"apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n{pipeline}\n"}
    data = "data:\n" + "".join(f"  {double_quoted(name)}: {given(draw)}\n" for name in draw.sample(NAMES, 2))
    if draw.random() < 0.8:
        head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: s\n"
        files["setters.yaml"] = head + draw.choice((data, data, data, "data: {}\n", "data:\n", ""))
    return files


def given(draw: random.Random) -> str:
    """Write a value of a pipeline's configuration, no list with other items than scalars."""
    texts = [text for text in VALUES if text not in ("-", "!") and not re.search("~]|k: v|# one", text)]
    return draw.choice((double_quoted(draw.choice(texts)), draw.choice(TEXTS), "", "|\n        - a\n        - 'b'"))


#: Pieces of YAML that no function expects where they are put.
ODDITIES = (
    *(
        "[",
        "]",
        "{",
        "}",
        "&a ",
        "*a",
        "!!binary ",
        "!t ",
        "? ",
        ": ",
        "- ",
        "|",
        ">",
        "|9\n",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
    ),
    *(
        "\t",
        "\0",
        "\x1b[31m",
        "\ufeff",
        "\u2028",
        "\x85",
        "\r",
        "\r\n",
        "\udc80",
        "<<: *a\n",
        "<<: {a: b}\n",
        "'",
        '"',
        "\\",
    ),
    *(
        "${",
        "}",
        "${}",
        "# kpt-set: ${app}",
        " # kpt-set: ${app}\n",
        "a" * 300,
        "9" * 5000,
        "-" * 50,
        "[" * 250,
        "\n\n\n",
    ),
    *(
        "items:\n",
        "results: [a]\n",
        "results:\n",
        "functionConfig: []\n",
        "kind: List\n",
        "metadata: a\n",
        "annotations: []\n",
    ),
    *(
        "data: [a]\n",
        "data:\n  - a\n",
        "null",
        "~",
        ".inf",
        "0x1",
        "1e999",
        "path: [a]\n",
        "index: " + "1" * 5000 + "\n",
    ),
)


def spoiled(draw: random.Random, data: bytes) -> bytes:
    """Spoil a list: pieces put in, taken out, doubled, cut off; bytes that are no UTF-8."""
    text = data.decode()
    for _ in range(draw.randint(1, 4)):
        at, length = draw.randrange(len(text) + 1), draw.randint(0, 40)
        match draw.randrange(6):
            case 0 | 1:
                text = text[:at] + draw.choice(ODDITIES) + text[at:]
            case 2:
                text = text[:at] + text[at + length :]
            case 3:
                text = text[:at] + text[at : at + length] * draw.randint(2, 30) + text[at:]
            case 4:
                line = text.rfind("\n", 0, at) + 1
                text = text[:line] + " " * draw.randint(1, 5) + draw.choice(ODDITIES) + text[line:]
            case 5:
                text = text[:at] if draw.random() < 0.2 else text.replace("\n", "\r\n", draw.randint(0, 5))
    return text.encode("utf-8", "surrogateescape")
