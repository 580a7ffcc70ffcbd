"""Random strategic merges, by our own build and by kustomize 5.7.1: equal objects, or we refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tiny
from packyard.core.errors import InputError
from packyard.using.kustomize.builtin import build
from real import Served
from sample import tries

KINDS = {
    ("apps/v1", "Deployment"): ("template", "spec"),
    ("batch/v1", "CronJob"): ("jobTemplate", "spec", "template", "spec"),
    ("example.com/v1", "Custom"): ("template", "spec"),
    ("v1", "Service"): (),
}
SCALARS: st.SearchStrategy[Any] = st.sampled_from([1, "1", "x", True, None])
DIRECTIVES = st.sampled_from([None] * 9 + ["delete", "replace", "merge"])


def mappings(patch: bool, depth: int = 2) -> st.SearchStrategy[dict[str, Any]]:
    inner = SCALARS | st.sampled_from([[], ["a"], [{"x": None}]])
    values = st.dictionaries(st.sampled_from("abc"), inner | mappings(patch, depth - 1) if depth else inner, max_size=3)
    return st.builds(said, values, DIRECTIVES if patch else st.none())


def said(values: dict[str, Any], directive: str | None) -> dict[str, Any]:
    return values | ({"$patch": directive} if directive else {})


def items(patch: bool, keys: dict[str, str], inner: dict[str, Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Lists of mappings, told apart by their keys; ``?`` begins the values of a key that may be missing."""
    fields = {key: st.sampled_from([*texts.strip("?").split()]) for key, texts in keys.items() if texts[0] != "?"}
    optional = {key: st.sampled_from(texts[1:].split()) for key, texts in keys.items() if texts[0] == "?"}
    values = st.fixed_dictionaries(fields, optional=optional | inner)
    unique = st.lists(values, max_size=3, unique_by=lambda each: tuple(each.get(key) for key in keys))
    return st.lists(DIRECTIVES if patch else st.none(), min_size=3, max_size=3).flatmap(
        lambda directives: unique.map(lambda found: [said(*pair) for pair in zip(found, directives, strict=False)])
    )


def specs(patch: bool, kind: str) -> st.SearchStrategy[dict[str, Any]]:
    name = {"name": SCALARS}
    if kind == "Service":
        ports = items(patch, {"port": "53 80", "protocol": "?TCP UDP"}, name)
        return st.fixed_dictionaries({"ports": ports}, optional={"selector": mappings(patch, 0)})
    container = {
        "image": SCALARS,
        "command": st.sampled_from([["a"], [], None]),
        "env": items(patch, {"name": "A B"}, {"value": SCALARS}),
        "ports": items(patch, {"containerPort": "53 80", "protocol": "?TCP UDP"}, name),
        "resources": mappings(patch),
    }
    spread = items(
        patch, {"topologyKey": "z h", "whenUnsatisfiable": "DoNotSchedule ScheduleAnyway"}, {"maxSkew": SCALARS}
    )
    pod = {"containers": items(patch, {"name": "x y"}, container), "topologySpreadConstraints": spread}
    return st.fixed_dictionaries(
        {}, optional={**pod, "affinity": mappings(patch), "tolerations": st.just([{"key": None}])}
    )


def objects(patch: bool, version: str, kind: str) -> st.SearchStrategy[str]:
    metadata = st.fixed_dictionaries(
        {"name": st.just("o")},
        optional={
            "labels": mappings(patch, 0),
            "finalizers": st.lists(st.sampled_from(["a/a", "b/b", "c/c"]), max_size=2, unique=True),
            "namespace": st.just("default"),
        },
    )

    def text(metadata: dict[str, Any], spec: dict[str, Any]) -> str:
        for key in reversed(KINDS[version, kind]):
            spec = {key: spec}
        written = yaml.safe_dump({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})
        return written.replace(": null\n", ":\n") if len(written) % 2 else written  # a null that is written is kept

    return st.builds(text, metadata, specs(patch, kind))


CASES = st.sampled_from(sorted(KINDS)).flatmap(
    lambda kind: st.tuples(
        objects(False, *kind), objects(True, *kind), st.sampled_from(["", f", target: {{kind: {kind[1]}}}"])
    )
)


@settings(
    max_examples=tries(1000),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(CASES)
def test_a_merge_gives_what_kustomize_makes_of_it_or_is_refused(
    served5: Served, tmp_path: Path, case: tuple[str, str, str]
) -> None:
    base, patch, target = case
    tiny.write(tmp_path / "base.yaml", base)
    tiny.write(tmp_path / "patch.yaml", patch)
    tiny.write(tmp_path / "kustomization.yaml", f"resources: [base.yaml]\npatches: [{{path: patch.yaml{target}}}]\n")
    try:
        ours = build(tmp_path).decode()
    except InputError:
        return
    done = served5("build", tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(yaml.safe_load_all(ours)) == list(yaml.safe_load_all(done.stdout))
