"""YAML files for properties: anything that people write, with some scalars bound by a setter comment."""

import re
from dataclasses import dataclass

from hypothesis import strategies as st

from packyard.core.yaml.values import double_quoted, is_plain_text, single_quoted

#: Values that a block scalar has no form of its own for: setting one of them loses the block.
NOT_IN_BLOCKS = re.compile(r"\s|.*\s\Z|\Z", re.DOTALL)
COMMENT = '# {"$openapi":"V"}'

TEXT = st.text(
    st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\x85\u2028\u2029\ufeff\ufffe\uffff"),
    max_size=30,
)
WORDS = st.sampled_from(
    ["old", "yes", "08", "1.10", "1e3", "null", "~", "", " ", "a: b", "a #b", "#", "- x", "{x", "*a"]
)
VALUES = st.one_of(TEXT, WORDS)
KEY = st.from_regex(r"[a-z][a-z0-9_.-]{0,8}", fullmatch=True).filter(is_plain_text)


@dataclass(frozen=True)
class File:
    """A YAML file in pieces: text that must stay, and between two pieces one bound scalar each."""

    pieces: tuple[str, ...]
    scalars: tuple[str, ...]

    @property
    def has_blocks(self) -> bool:
        """Whether a bound scalar is a literal or folded block."""
        return any(scalar[0] in "|>" for scalar in self.scalars)

    def text(self) -> str:
        found = self.pieces[0]
        for scalar, piece in zip(self.scalars, self.pieces[1:], strict=True):
            found += scalar + piece
        return found


@st.composite
def files(draw: st.DrawFn) -> File:
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    pieces = [draw(st.sampled_from(["", "---" + newline, "# licence" + newline + newline]))]
    scalars: list[str] = []

    def add(text: str) -> None:
        pieces[-1] += text

    def scalar(value: str) -> str:
        styles = [double_quoted(value), single_quoted(value)]
        return draw(st.sampled_from([*styles, value] if is_plain_text(value) else styles))

    def line(indent: str, start: str) -> None:
        if draw(st.booleans()):
            add(f"{indent}{start}")
            scalars.append(draw(st.sampled_from(["old", '"old"', "'0'", "&anchor old", "!!str old"])))
            pieces.append(draw(st.sampled_from([" ", "   ", "\t"])) + COMMENT + newline)
        else:
            note = draw(st.sampled_from(["", " # note", ' # {"$openapi":"OTHER"}', "  "]))
            add(f"{indent}{start}{scalar(draw(TEXT))}{note}{newline}")

    def mapping(depth: int, indent: str) -> None:
        for key in draw(st.lists(KEY, min_size=1, max_size=4, unique=True)):
            add(draw(st.sampled_from(["", newline, f"{indent}# above{newline}{newline}"])))
            kind = draw(
                st.sampled_from(
                    ["scalar", "scalar", "mapping", "list", "block", "bound block"] if depth < 3 else ["scalar"]
                )
            )
            if kind == "scalar":
                line(indent, f"{key}: ")
            elif kind == "block":
                add(f"{indent}{key}: |-{newline}{indent}  # text {COMMENT}{newline}{indent}  more{newline}")
            elif kind == "bound block":
                add(f"{indent}{COMMENT}{newline}{indent}{key}: ")
                header = draw(st.sampled_from(["|-", ">-", "|"]))
                blanks = " " * draw(st.integers(2, 3))
                scalars.append(f"{header}{newline}{indent}{blanks}old")
                pieces.append(newline)
            else:
                add(f"{indent}{key}:{newline}")
                if kind == "mapping":
                    mapping(depth + 1, indent + "  ")
                else:
                    for _ in range(draw(st.integers(1, 3))):
                        line(indent, "- ")

    for number in range(draw(st.integers(1, 2))):
        add("" if number == 0 else f"---{newline}")
        mapping(0, "")
    if draw(st.booleans()):
        pieces[-1] = pieces[-1].removesuffix(newline)
    return File(tuple(pieces), tuple(scalars))
