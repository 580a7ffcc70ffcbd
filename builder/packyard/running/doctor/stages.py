"""What is asked of a cluster first, and what only where the first answers leave it open: few calls where all is sound.

A server that takes the pods in a dry run has said that their namespace and its limits admit them; what these are is
read where it refuses, or cannot be asked. Classes and drivers of volumes are read where a claim has no volume yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from packyard.core.kubernetes import claims
from packyard.core.kubernetes.claims import CLAIM
from packyard.core.kubernetes.lenient import Object, mapping, text
from packyard.running.doctor import storage
from packyard.running.doctor.facts import Facts, Questions

_OF_NAMESPACE = frozenset({"LimitRange"})
_VOLUMES, _OF_VOLUMES = frozenset({"PersistentVolume"}), frozenset({"PersistentVolume", "StorageClass", "CSIDriver"})


def first(questions: Questions) -> Questions:
    """Return the questions whose answers are needed in any case."""
    everywhere = questions.everywhere - _OF_VOLUMES
    return replace(questions, namespace=False, inside=questions.inside - _OF_NAMESPACE, everywhere=everywhere)


def rest(questions: Questions, objects: Sequence[Object], facts: Facts) -> Questions:
    """Return those of the others that the first answers leave open."""
    needs_limits = not facts.is_admitting or bool(facts.objects.get("ResourceQuota") or claims.brought(objects))
    return Questions(
        namespace=not facts.is_admitting or bool(facts.objects.get("ClusterQueue")),
        inside=questions.inside & _OF_NAMESPACE if needs_limits else frozenset(),
        everywhere=questions.everywhere & _of_volumes(objects, facts),
    )


def _of_volumes(objects: Sequence[Object], facts: Facts) -> frozenset[str]:
    """Return what has to be known of volumes: where they are; and of those to come, who makes them."""
    come = [*claims.brought(objects), *claims.templates(objects)]
    there = facts.objects.get(CLAIM, ())
    waiting = [text(mapping(each.get("spec")).get("storageClassName")) for each in there if not _is_bound(each)]
    if come or any(waiting) or any(item.get("kind") == "PersistentVolume" for item in objects):
        return _OF_VOLUMES
    return _VOLUMES if any(map(_is_bound, there)) else frozenset()


def _is_bound(claim: Object) -> bool:
    return storage.phase(claim) == "Bound"
