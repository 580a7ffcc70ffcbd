"""Single mutations of the catalogue's use cases: lint finds each, or there is a reason why nobody could.

`make fuzz` tries 1,000 or more (PACKYARD_FUZZ), `make test` a few, always the same; PACKYARD_SEED chooses others.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

import pytest

from packyard.core.kubernetes import schemas
from packyard.core.work.memo import Memo
from packyard.using.options.folder import PROGRAMS
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks import collisions
from packyard.writing.checks.lint import find
from packyard.writing.checks.parsed import Parsed, parse
from packyard.writing.source.package import Package
from usecases import PACKAGES, composed_package, package_files
from writing.checks import mutations
from writing.checks.mutations import Mutation

FUZZ = int(os.environ.get("PACKYARD_FUZZ", "0"))
COUNT = min(max(FUZZ // 100, 520), 5000) if FUZZ else 39
EACH = 13  # in one use case
#: At least this part of all is found, of a small sample a little less; the reasons below are for the others.
LEAST = 0.88 if FUZZ else 0.75

_VARIABLE = "[A-Z][A-Za-z0-9_]*"
_PROGRAM = "a word that only the program in the image knows"
_READ = "a variable that only the program in the image reads"
_ALLOWED = "what a setter takes is its author's decision, and no other use case has it"
_SECURE = "the default is one that the image may be made for"
#: Kinds of mutations that may survive: by the keys where they do, as a regular expression, the reason.
SURVIVORS = {
    "alias broken": {
        "image|imagePullPolicy": "another image is as good a name, and one without a tag is pulled at each start",
        "name|value": "the name of a container, or a text for the program",
        "subdomain": "a JobSet makes the Service, and only a program asks for it",
    },
    "comment dropped": {
        "CPUS|GPUS|PS|WORKERS|RETRY_LIMIT|SERVING_CPU": "a number as short stands elsewhere by chance",
        "PVC_PATH|MODEL_DIR|NFS_PATH": "a path as short may be the same as another one that no set changes",
        "RUNS_PATH": "a path for the program alone",
        "MODEL_NAME": "a word as short as llm stands elsewhere by chance",
    },
    "field dropped": {
        _VARIABLE: _READ,
        "valueFrom|value": "a variable without a value is empty",
        "env|envFrom|configMapRef|args|command|workingDir|subdomain": _PROGRAM,
        "apiVersion|kind": "kustomize takes a kustomization without them for what it is",
        "pattern|minimum|maximum|maxLength|example|required|nullable|rules": _ALLOWED,
        "readOnlyRootFilesystem|capabilities|add": _SECURE,
        "runAsUser|runAsGroup|fsGroup": "the image has a user, and the storage knows whose its files are",
        "automountServiceAccountToken": "the other one of account and pod says it too",
        "serviceAccountName": "the workflow's own account is enough for a step that asks the API server nothing",
        "image": "the templates of a workflow have an image by default",
        "fsGroupChangePolicy": "all files are given to the group each time, which is slower",
        "medium|sizeLimit": "an emptyDir is on the node's disk, without a limit, by default",
        "mountOptions|storageClassName": "node and cluster choose a default",
        "failureThreshold|timeoutSeconds": "a probe has a pace and a patience by default",
        "nvidia.com/gpu|memory": "a container may do without",
        "type|completionMode|apiGroup|volumeName": "the field has a default, or somebody else fills it in",
        "selector|ingress": "what chooses nothing may be filled by somebody else, and a policy may admit nobody",
        "podFailurePolicy|livenessProbe|restartPolicy": "a pod is started again, or not, by the default of its kind",
        "enableServiceLinks": "the variables of Services are for programs that read them",
        "optional": "the Secret is one that a cluster may have",
        "policies|stabilizationWindowSeconds": "an autoscaler has a pace by default",
        "mpiImplementation": "it is Open MPI by default",
        "name": "the only port of a Service needs none",
        "labels": "nothing selects what all runs share",
        "nodeSelector|tolerations|annotations": "a cluster of one kind of nodes, or without a mesh, needs none",
        "app.kubernetes.io/(component|name|instance)|matchLabels|from": "nothing selects it, or all are meant",
        "cpu|requests": "a request equals its limit unless it is written, and CPUs need no limit",
        "backoffLimit": "a Job is tried six times by default",
        "periodSeconds|path": "a probe asks every ten seconds, at /, by default",
        "targetPort": "a Service leads to the port of its own number by default",
        "persistentVolumeReclaimPolicy": "a volume that somebody made is retained by default",
        "spec": "a policy that says nothing admits nobody",
        "policyTypes": "a policy is about what comes in by default, and about what goes out if it has rules for that",
        "successPolicy|targetReplicatedJobs": "a JobSet ends with all of its Jobs by default",
        "subPath|readOnly": "the whole volume is mounted, to be written, by default",
        "parallelism|completions|maxFailedIndexes|backoffLimitPerIndex": "one pod, and no limit of its own, by default",
    },
    "field misspelled": {
        _VARIABLE: _READ,
        ".*/.*": "a label or an annotation, which anybody may name",
        "kind|metadata": "without it, a file that no kustomization lists is no object",
        "spec|selectors": "Kubernetes 1.31, which judges here, has no such ResourceClaimTemplate",
        "instance": "a key of a ConfigMap, which only a program reads",
        r"\w+\.\w+": "a file of a ConfigMap, which only a program opens",
    },
    "item dropped": {
        "args|command|env|envFrom|source": _PROGRAM,
        "volumeMounts": "the image may have it, and only the program looks for it",
        "mountOptions": "node and server agree on the newest version of the protocol",
        "onJobFailureReasons|targetReplicatedJobs|policyTypes": "an empty list stands for all",
        "parentRefs": "a route that nothing takes up is one",
        "from|ingress": "a policy that admits nobody, or everybody, is one",
        "ports|steps|replicatedJobs": "what offers or does less is whole",
        "tolerations|policies": "nodes may have no taint, and an autoscaler has a pace by default",
        "verbs|resources|apiGroups": "a right less is missed by its program alone",
        "add|drop": _SECURE,
        "rules|enum": _ALLOWED,
    },
    "name changed": {
        "name|subPath": "a name that nothing in the package refers to",
        "secretName": "a Secret of the cluster, which may have any name",
    },
    "number raised": {
        "minimum|maximum|maxLength": _ALLOWED,
        "backoffLimit(PerIndex)?|maxFailedIndexes|maxRestarts|limit|maxUnavailable": "one try or loss more",
        "periodSeconds|failureThreshold|initialDelaySeconds|timeoutSeconds": "one more is as good",
        "terminationGracePeriodSeconds|stabilizationWindowSeconds|minReplicas|value": "one more is as good",
        "progressDeadlineSeconds": "no schema says how large a whole number of 32 bits may be",
        "containerPort|port|number": "the program listens where only it knows, and others ask by the port's name",
        "slotsPerWorker|completions|parallelism|replicas": "one more is as good as the number before",
    },
    "number to text": {
        "limit|maxUnavailable|nvidia.com/gpu": "the field takes a number and a text",
        "count": "Kubernetes 1.31, which judges here, has no such ResourceClaimTemplate",
    },
    "switch turned": {
        "publishNotReadyAddresses": "pods that wait for each other by name start without it, more slowly",
        "allowPrivilegeEscalation": "the package says that it is above the baseline",
        "enableServiceLinks": "the variables of Services are for programs that read them",
        "nullable": "kustomize sets all but a substitution of two such setters",
        "required": "an empty text is a value that the program may take",
    },
    "text changed": {
        "args|command|value|workingDir|source": _PROGRAM,
        _VARIABLE: _READ,
        "mountPath|sshAuthMountPath": "what the program opens there only it knows",
        "image": "the tag is one of a registry that nobody asks",
        "description|message|example": "a text for people",
        "pattern|enum": _ALLOWED,
        ".*/.*": "the value of a label that nothing selects",
        "drop": "the package says that it is above the baseline",
        "type": "a condition of a pod is called as whoever sets it likes",
        "onJobFailureReasons|completionMode|scheduling": "a word of which the operator's schema has no list",
        "verbs": "a verb of its own is what an API may have",
        "key|topologyKey": "a taint or a label of nodes is called as somebody likes",
        "apiVersion": "an autoscaler finds what it scales by its group, in whatever version",
        "mountOptions|storageClassName|driver|path": "a name of something outside of the package",
    },
    "text to number": {
        "cpu|memory|averageValue": "an amount may be a number",
        "example": "an example is read as text",
    },
}


@cache
def use_cases() -> list[PackageFiles]:
    return [
        package_files(item.files, f"{package.name}/{item.use_case.path}/")._replace(programs=programs(package))
        for package in PACKAGES
        for item in composed_package(package).use_cases
    ]


def programs(package: Package) -> dict[str, bytes]:
    """Return the programs of a package, by the paths of their files."""
    return {f"{PROGRAMS}/{path}": data for path, data in composed_package(package).programs.items()}


@cache
def siblings(where: str) -> list[Parsed]:
    """Return the other use cases of a package."""
    name = where.partition("/")[0]
    others = (each for each in use_cases() if each.where.partition("/")[0] == name and each.where != where)
    return [parse(each, Memo()) for each in others]


def found(package: PackageFiles, others: Sequence[Parsed]) -> Counter[tuple[str, str]]:
    """Return what lint finds, exceptions included, wherever it stands."""
    names = {package.where + path for path in package.files}
    parsed = parse(package, Memo())
    each = find(package, parsed, judges=schemas.choose(("1.31",)), exists=lambda path: path in names)
    each += collisions.definitions([*others, parsed])
    return Counter((finding.rule, finding.message) for finding in each)


def survivors(package: PackageFiles, chance: random.Random, count: int) -> list[Mutation]:
    """Mutate a package at so many places, and return the mutations of which lint finds nothing more than before."""
    others = siblings(package.where)
    before = found(package, others)
    mutated = mutations.find({package.name: package.krmfile, **package.resources}, chance, count)
    return [each for each in mutated if found(package.with_files({each.path: each.text.encode()}), others) <= before]


def reason(mutation: Mutation) -> str:
    known = SURVIVORS.get(mutation.kind, {})
    return next((why for keys, why in known.items() if re.fullmatch(keys, mutation.key)), "")


@pytest.mark.nightly
def test_a_single_mutation_is_found_or_has_a_reason() -> None:
    chance = random.Random(os.environ.get("PACKYARD_SEED", "0"))
    alive = []
    for index in range(0, COUNT, EACH):
        alive += survivors(chance.choice(use_cases()), chance, min(EACH, COUNT - index))
    print(f"{COUNT - len(alive)} of {COUNT} mutations found")
    assert [each.place for each in alive if not reason(each)] == []
    assert len(alive) <= COUNT * (1 - LEAST)
