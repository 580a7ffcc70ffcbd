"""The picture of a use case's objects: what it finds between them, and how it draws whatever it is given."""

from itertools import combinations, pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from packyard.sharing.web.picture import Arrow, Thing, draw, find

POD = {
    "serviceAccountName": "runner",
    "volumes": [
        {"persistentVolumeClaim": {"claimName": "data"}},
        {"secret": {"secretName": "key"}},
        {"configMap": "x"},
    ],
    "containers": [{"envFrom": [{"configMapRef": {"name": "settings"}}]}],
}


def deployment(name: str = "app") -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": name}}, "spec": POD}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {"template": template}}


def named(kind: str, name: str, **spec: object) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def test_finds_what_objects_mount_read_select_and_run_as() -> None:
    service, budget = named("Service", "api", selector={"app": "app"}), named("PodDisruptionBudget", "two")
    budget["spec"] = {"selector": {"matchLabels": {"app": "other"}}}
    binding = named("RoleBinding", "may")
    binding |= {"roleRef": {"kind": "Role", "name": "edit"}, "subjects": [{"kind": "ServiceAccount", "name": "runner"}]}
    things, arrows = find([deployment(), service, budget, named("NetworkPolicy", "no", podSelector={}), binding])
    assert [thing.name for thing in things] == ["app", "api", "two", "no", "may"]
    assert {str(arrow) for arrow in arrows} == {
        "Deployment app runs as ServiceAccount runner",
        "Deployment app mounts PersistentVolumeClaim data",
        "Deployment app mounts Secret key",
        "Deployment app reads ConfigMap settings",
        "Service api selects Deployment app",
        "NetworkPolicy no selects Deployment app",
        "RoleBinding may grants Role edit",
        "RoleBinding may grants to ServiceAccount runner",
    }


@pytest.mark.parametrize("value", [None, [], "x", 7, {"a": [None]}, {"name": 7}])
def test_fields_of_another_type_are_empty(value: object) -> None:
    broken = [
        {"kind": value, "metadata": value, "spec": value},
        {"kind": "Job", "metadata": {"name": "a"}, "spec": value},
    ]
    broken += [{"kind": "Service", "metadata": {"name": "b"}, "spec": {"selector": value, "configMap": value}}]
    broken += [{"kind": "Pod", "metadata": {"name": "c"}, "spec": {"containers": [value], "volumes": value}}]
    assert {thing.name for thing in find(broken)[0]} == {"a", "b", "c"}
    assert draw(*find(broken))


def drawn(pairs: list[tuple[str, str]]) -> tuple[ElementTree.Element, dict[str, tuple[float, ...]]]:
    """Draw objects by their names; return the picture, and of each box its left, top, right and lower end."""
    things = list(dict.fromkeys(Thing("Job", name) for pair in pairs for name in pair))
    root = ElementTree.fromstring(draw(things, [Arrow(Thing("Job", a), "calls", Thing("Job", b)) for a, b in pairs]))
    boxes = {}
    for group in root.iter("g"):
        (rect,), texts = group.findall("rect"), [each.text or "" for each in group.findall("text")]
        x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        boxes[texts[1]] = (x, y, x + width, y + height)
    return root, boxes


@pytest.mark.parametrize(
    "pairs",
    [
        ["ab"],
        ["ab", "bc", "ac", "cd", "ad"],
        ["ab", "ba"],
        ["ab", "bc", "ca", "ad", "dc"],
        ["af", "bf", "cf", "fd", "fe", "ae"],
        [f"{a}{b}" for a, b in combinations("abcdefgh", 2)],
        [f"{a}{b}" for a, b in pairwise("abcdefghijklmnopqrstuvwxyz")] + ["za"],
    ],
)
def test_boxes_lie_apart_and_arrows_lead_to_the_right_unless_they_close_a_circle(pairs: list[str]) -> None:
    root, boxes = drawn([(pair[0], pair[1]) for pair in pairs])
    width, height = (float(root.attrib[key]) for key in ("width", "height"))
    for left, top, right, low in boxes.values():
        assert 0 <= left < right <= width
        assert 0 <= top < low <= height
    for one, other in combinations(boxes.values(), 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    back = [pair for pair in pairs if boxes[pair[0]][0] >= boxes[pair[1]][0]]
    assert len(back) <= 1
    assert len(list(root.iter("path"))) == 2 * len(pairs)


def test_names_stay_texts_and_long_ones_are_cut() -> None:
    evil = Thing("<script>", '"><img src=x>' + "a" * 100)
    root = ElementTree.fromstring(draw([evil], [Arrow(evil, "</svg>", Thing("Secret", "&amp;"))]))
    assert {each.tag for each in root.iter()} == {"svg", "g", "rect", "text", "path"}
    assert [each.text for each in root.iter("text")] == ["</svg>", "<script>", f"{evil.name[:47]}…", "Secret", "&amp;"]
    assert root.attrib["aria-label"] == f"{evil} </svg> Secret &amp;"


def test_nothing_and_too_much_are_not_drawn() -> None:
    assert draw([], []) == ""
    assert draw([Thing("Job", str(number)) for number in range(61)], []) == ""
    assert draw([Thing("Job", str(number)) for number in range(60)], [])
