"""The doctor on a real control plane: silent where all is sound, honest where it may not look, and quick."""

from dataclasses import replace

import pytest

from catalogue.nightly import test_runs
from catalogue.usecases import LEVELS, PACKAGES, build_all, level, moved, shipped
from controlplane.api import Api
from packyard.core.kubernetes import dependencies, pods
from packyard.running import doctor
from packyard.running.doctor import facts
from packyard.running.runs.kubectl import Kubectl
from real import Kustomize
from running.patients import told
from running.wanted import secret


@pytest.mark.parametrize("brings_claims", [False, True])
def test_every_use_case_is_sound_where_it_has_what_it_needs(
    operated: Api, kustomize5: Kustomize, client: Kubectl, brings_claims: bool
) -> None:
    """With what a user and an administrator make beforehand; claims that are brought are made by nobody else."""
    wanted = [shipped(package, use_case) for package in PACKAGES for use_case in package.use_cases]
    built = build_all(kustomize5, "any", [(test_runs.apart(each.set(each.examples)), ()) for each in wanted])
    chosen = [each for each in built if bool(test_runs.of_kind(each, "PersistentVolumeClaim")) == brings_claims]
    namespace = operated.create_namespace(max(map(level, chosen), key=LEVELS.index))
    runs = [moved(each, "any", namespace) for each in chosen]
    whole = [item for run in runs for item in run]
    test_runs.provide(operated, namespace, whole)
    secrets: dict[str, dict[str, str]] = {}  # that pods need, with the keys that they need
    for each in (each for found_pod in pods.find_all(whole) for each in dependencies.find(found_pod)):
        if each.kind == "Secret" and not each.is_optional:
            secrets.setdefault(each.name, {}).update(dict.fromkeys(each.keys, "x"))
    for name, keys in secrets.items():
        operated.create(secret(name, **keys), namespace).expect_done()
    known = facts.read(replace(client, namespace=namespace), doctor.questions(whole))
    for objects in runs:
        found = doctor.judge(objects, known)
        # Volumes of claims that are brought are there, which nobody asks for, and no class is.
        wrong = [each for each in found if each.severity != "passed"]
        wrong = [each for each in wrong if not brings_claims or each.check != "storage"]
        assert told(wrong) == []
        assert len(found) >= 3
