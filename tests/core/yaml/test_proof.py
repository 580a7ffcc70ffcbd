"""Edits that do more or less than they mean are refused by file and line, whoever wrote them; right ones are made."""

import pytest

from packyard.core.errors import InputError
from packyard.core.yaml import items
from packyard.core.yaml.compare import Planned
from packyard.core.yaml.content import double
from packyard.core.yaml.document import parse_text
from packyard.core.yaml.edit import Edit, exchange, replace_comment
from packyard.core.yaml.node import Child, Collection, Comment, Document, Entry, Node, Scalar, Source
from packyard.core.yaml.proof import apply_to_text
from packyard.core.yaml.span import children_below

C = '# {"$openapi":"A"}'


class Text:
    """A parsed text in which a test finds its nodes by what they say."""

    def __init__(self, text: str) -> None:
        self.source = Source("pkg/f.yaml", text)
        self.documents: list[Document] = parse_text(self.source)

    @property
    def children(self) -> list[Child]:
        return [child for document in self.documents if document.root for child in children_below(document.root)]

    def entry(self, name: str) -> Entry:
        return next(child for child in self.children if isinstance(child, Entry) and child.name == name)

    def node(self, name: str) -> Node:
        return self.entry(name).value

    def list(self, name: str) -> Collection:
        found = self.node(name)
        assert isinstance(found, Collection)
        return found

    def comment(self, text: str) -> Comment:
        comments = [
            one
            for child in self.children
            for one in (child.comment, child.value.comment, *child.head, *child.foot)
            if one is not None
        ]
        return next(comment for comment in comments if comment.text == text)

    def at(self, text: str) -> int:
        return self.source.text.index(text)

    def made(self, *edits: Edit, around: bool = True, planned: Planned = ()) -> str:
        return apply_to_text(self.source, edits, self.documents if around else (), planned=planned)

    def refused(self, *edits: Edit, lines: range, says: str = "", planned: Planned = ()) -> None:
        """Expect a refusal by a line, whether all of the text is parsed again or the lines around the edits."""
        for around in (True, False):
            with pytest.raises(InputError) as refusal:
                self.made(*edits, around=around, planned=planned)
            (problem,) = refusal.value.problems
            assert problem.file == "pkg/f.yaml"
            assert problem.line in lines, str(problem)
            assert problem.message.startswith("this cannot be changed exactly: ")
            assert says in problem.message
            assert "nothing was written" in problem.hint


@pytest.mark.parametrize("value", ["other", "new # {", "[new", "new: 1", "*x", "'new", "new\n", "- new", "&a new"])
def test_refuses_a_value_that_is_not_read_as_the_one_that_is_set(value: str) -> None:
    text = Text(f"x: &x 1\na: old {C}\nb: '1'\n")
    text.refused(Edit(text.at("old"), text.at("old") + 3, value, text.node("a"), reads="new"), lines=range(2, 3))


@pytest.mark.parametrize("behind", ["after: 1\n", "---\nb: 1\n", "# end\nafter: 1\n"])
def test_refuses_a_list_that_runs_into_what_follows(behind: str) -> None:
    text = Text(f"args: {C}\n- -c\n- |\n  script\n{behind}")
    node = text.list("args")
    text.refused(Edit(node.start, node.end, '- "p"', node, new=["p"], gone=node.children), lines=range(2, 7))


@pytest.mark.parametrize("front", ["&x ", "!!seq ", "!own "])
def test_refuses_to_write_over_an_anchor_or_a_tag(front: str) -> None:
    text = Text(f"args: {front}{C}\n- a\nb: 1\n")
    node = text.list("args")
    text.refused(Edit(node.start, node.end, '- "p"', node, new=["p"], gone=node.children), lines=range(1, 2))
    for style in ("1", "'1'"):
        text = Text(f"a: {front.replace('seq', 'str')}{style} {C}\n")
        node = text.node("a")
        text.refused(Edit(node.start, node.end, "2", node, reads="2"), lines=range(1, 2))


def test_refuses_to_take_out_what_an_alias_repeats_and_lets_it_follow() -> None:
    text = Text(f"l: {C}\n- &x a\n- b\nm: *x\n")
    node = text.list("l")
    text.refused(Edit(node.start, node.end, '- "p"', node, new=["p"], gone=node.children), lines=range(2, 6), says="&x")
    text = Text(f"a: &x old {C}\nm: *x\n")
    assert text.made(*exchange(text.node("a"), "&x new", "new")) == f"a: &x new {C}\nm: *x\n"
    text.refused(Edit(text.at("&x"), text.at(" #"), "&y new", text.node("a"), reads="new"), lines=range(1, 2))


def test_refuses_an_entry_that_comes_to_stand_in_another_mapping() -> None:
    text = Text("setter:\n  ? value\n  : '1'\n  name: A\nb: 1\n")
    setter = text.list("setter")
    for indent in ("", "    ", "      "):
        edit = Edit(text.at("b: 1"), text.at("b: 1"), f"{indent}isSet: true\n", setter, new=[("isSet", "true")])
        text.refused(edit, lines=range(1, 6))
    edit = Edit(text.at("b: 1"), text.at("b: 1"), "  isSet: true\n", setter, new=[("isSet", "true")])
    assert "  name: A\n  isSet: true\nb: 1\n" in text.made(edit)
    text.refused(Edit(edit.start, edit.end, "  isSet: false\n", setter, new=edit.new), lines=range(1, 6))
    text.refused(Edit(edit.start, edit.end, "  isSet: true\n  x: 1\n", setter, new=edit.new), lines=range(1, 6))


def test_refuses_a_value_behind_a_complex_key() -> None:
    text = Text(f"? k {C}\nb: 1\n")
    text.refused(Edit(text.node("k").start, text.node("k").start, " 2", text.node("k"), reads="2"), lines=range(1, 3))


@pytest.mark.parametrize("lost", ["# first", "# about b", '# {"$openapi":"B"}', "# end"])
def test_refuses_to_lose_a_comment(lost: str) -> None:
    text = Text(f'a: old {C}\nl:\n- a # first\n# about b\n- b # {{"$openapi":"B"}}\n\n# end\n')
    comment = text.comment(lost)
    line = text.source.locate(text.at(lost))[0]
    spoil = Edit(comment.start - 1, comment.end, "" if comment.own_line else " ")
    with pytest.raises(InputError, match=r"pkg/f\.yaml:.*a comment"):
        text.made(*exchange(text.node("a"), "new", "new"), spoil)
    with pytest.raises(InputError, match=rf"pkg/f\.yaml:{line}:.*a comment|pkg/f\.yaml:.*a comment"):
        text.made(Edit(comment.start, comment.end, "# other"))
    assert "# other" in text.made(replace_comment(comment, "# other"))


def test_refuses_to_move_a_comment_to_another_item() -> None:
    """The span of a list ends before the comment behind its last item, which then stands behind a new one."""
    text = Text(f'args: {C}\n- a # first\n# about b\n- b # {{"$openapi":"B"}}\n')
    node = text.list("args")
    text.refused(
        Edit(node.start, node.end, '- "p"\n- "q"', node, new=["p", "q"], gone=node.children), lines=range(2, 6)
    )
    item = node.children[1]
    for replacement in ("- x\n", "# new\n- x\n"):  # between a comment and its item, and with a comment of its own
        text.refused(Edit(text.at("- b"), text.at("- b"), replacement, node, new=["x"]), lines=range(2, 5))
    text.refused(Edit(text.at("- b"), text.at("- b") + 3, "- x", node, new=["x"], gone=[item]), lines=range(2, 5))


@pytest.mark.parametrize(
    "other", ["b: 1", "b: '1'", "b: 1.0", "b: &x 1", "b: !!str 1", "c: 1", "b: [1]", "b: 1\nc: 2", ""]
)
def test_refuses_to_change_what_nobody_named(other: str) -> None:
    text = Text(f"a: old {C}\nb: !!int 1\nd: 2\n")
    edits = exchange(text.node("a"), "new", "new")
    with pytest.raises(InputError, match=r"pkg/f\.yaml:"):
        text.made(*edits, Edit(text.at("b:"), text.at("\nd:"), other))


def test_refuses_documents_that_come_or_go() -> None:
    text = Text(f"a: old {C}\n---\nb: 1\n")
    for start, end, replacement in ((text.at("---"), text.at("b: 1"), ""), (text.at("b: 1"), text.at("b: 1"), "---\n")):
        with pytest.raises(InputError, match="documents"):
            text.made(Edit(start, end, replacement))


LISTS = {
    "block": f"x: 1\nl: {C}\n- a # one\n# about b\n- b\ny: 2\n",
    "indented": f"x: 1\nl: {C}\n  - a\n  - b\ny: 2\n",
    "brackets": f"x: 1\nl: [a, b] {C}\ny: 2\n",
    "one": f"x: 1\nl: {C}\n- a\ny: 2\n",
}
NEW = ["a", "b", "c", "d"]


@pytest.mark.parametrize("form", LISTS)
def test_refuses_edits_that_lack_what_is_planned(form: str) -> None:
    """Whatever the edits are, and say that they are: each is what another plan's would be."""
    text = Text(LISTS[form])
    node, others = text.list("l"), [["a"], ["a", "b", "c"], NEW[::-1], [*NEW, "e"], ["a", "b", "c", "e"], []]
    made = text.made(*items.exchange(node, [*map(double, NEW)], text.entry("l")), planned=[(node, NEW)])
    assert [child.value.value for child in Text(made).list("l").children] == NEW
    for other in others:
        edits = items.exchange(node, [*map(double, other)], text.entry("l"))
        assert text.made(*edits, planned=[(node, other)])
        text.refused(*edits, lines=range(1, 8), says="the value that is set", planned=[(node, NEW)])


def test_refuses_one_value_of_several_that_no_edit_sets() -> None:
    text = Text(f"a: old {C}\nl: {C}\n- a\nz:\n  b: old {C}\n")
    plan: Planned = [(text.node("a"), "new"), (text.node("b"), "new"), (text.node("l"), ["a"])]
    edits = [edit for name in "ab" for edit in exchange(text.node(name), "new", "new")]
    assert text.made(*edits, planned=plan).count("new") == 2
    for lacking in ([], edits[:1], edits[1:]):
        text.refused(*lacking, lines=range(1, 6), says="the value that is set", planned=plan)
    text.refused(*edits, lines=range(1, 6), planned=[*plan, (text.node("b"), "newer")])  # two for one node


def test_looks_behind_aliases_for_what_is_planned() -> None:
    text = Text(f"a: &x b {C}\nl: {C}\n- a\n- *x\n")
    plan: Planned = [(text.list("l"), ["a", "b"])]
    assert text.made(planned=plan) == text.source.text
    text.refused(*exchange(text.node("a"), "&x c", "c"), lines=range(1, 5), planned=plan)


def test_looks_for_entries_that_are_planned() -> None:
    text = Text("setter:\n  name: A\n  listValues: [a]\n  setBy: me\n")
    setter, listed = text.list("setter"), text.list("listValues")
    edits = items.exchange(listed, [double("b")], text.entry("listValues"))
    assert '["b"]' in text.made(*edits, planned=[(setter, {"listValues": ["b"], "setBy": "me", "isSet": None})])
    for plan in ({"listValues": ["a"]}, {"setBy": None}, {"isSet": "true"}):
        text.refused(*edits, lines=range(1, 5), planned=[(setter, plan)])
        text.refused(lines=range(1, 5), planned=[(setter, {"listValues": ["b"]})])


def test_parses_only_the_lines_around_the_edits_again(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "".join(f"- name: item-{number}\n  args: {C}\n  - a\n  v: old {C}\n" for number in range(1000))
    text = Text(f"items:\n{body}last: 1\n")
    parsed: list[int] = []

    def counted(source: Source, *, is_part: bool) -> list[Document]:
        parsed.append(len(source.text))
        return parse_text(source, is_part=is_part)

    monkeypatch.setattr("packyard.core.yaml.proof.parse_text", counted)
    scalars = [child.value for child in text.children if isinstance(child.value, Scalar) and child.value.value == "old"]
    assert text.made(*exchange(scalars[0], "new", "new"), *exchange(scalars[-1], "new", "new")).count("v: new") == 2
    assert sum(parsed) < 200
