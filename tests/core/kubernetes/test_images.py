"""References to images, and where objects have them."""

import pytest

from core.kubernetes.kubernetes_objects import objects
from packyard.core.kubernetes.images import find, is_valid, parse, replaced


def test_finds_images_in_pods_of_any_depth_and_leaves_out_unset_ones() -> None:
    text = """
    kind: CronJob
    spec: {jobTemplate: {spec: {template: {spec: {containers: [{image: b}, {image: ""}, {image: null}, {}],
      ephemeralContainers: [{image: a}], volumes: [{name: w, image: {reference: "weights:1"}}]}}}}}
    """
    assert find(objects(text)) == ("a", "b", "weights:1")


@pytest.mark.parametrize(
    ("reference", "name", "tag", "digest"),
    [
        ("tensorflow", "tensorflow", "", ""),
        ("a/b:1.2", "a/b", "1.2", ""),
        ("registry:5000/a", "registry:5000/a", "", ""),
        ("registry:5000/a:1@sha256:" + "0" * 64, "registry:5000/a", "1", "sha256:" + "0" * 64),
        ("[::1]:5000/a:1", "[::1]:5000/a", "1", ""),
        ("", "", "", ""),
    ],
)
def test_takes_a_reference_apart(reference: str, name: str, tag: str, digest: str) -> None:
    image = parse(reference)
    assert (image.name, image.tag, image.digest) == (name, tag, digest)
    assert is_valid(reference) == bool(reference)


@pytest.mark.parametrize(
    ("new", "reference"), [({"digest": "sha256:1"}, "a@sha256:1"), ({"newTag": "2"}, "a:2"), ({"newName": "b"}, "b:1")]
)
def test_a_kustomization_gives_another_name_tag_or_digest(new: dict[str, str], reference: str) -> None:
    assert replaced("a:1", new) == reference


@pytest.mark.parametrize("tag", ["latest", "nightly", "1.2-dev", "main_2024", "", "2.x-STABLE"])
def test_a_tag_that_moves(tag: str) -> None:
    image = f"registry:5000/a:{tag}" if tag else "registry:5000/a"
    assert parse(image).is_moving
    assert not parse(f"{image}@sha256:{'0' * 64}").is_moving


@pytest.mark.parametrize("text", ["A", "a b", "a:", "a/", "/a", "a@sha256:0", "a//b", "a:1:2", "-a", "a:" + "x" * 129])
def test_what_is_not_a_reference(text: str) -> None:
    assert not is_valid(text)
