"""Use cases that users edited, options that do not go together: carried out right, or refused with option and path."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

import pytest

from real import Cfg, Served
from using.options.shipped import DATASETS, Build, Catalogue, Object, Place, add, assert_refused, build_all

pytestmark = pytest.mark.oracle
#: A use case of each kind, with the file of its workload.
KINDS = {
    "resnet50v1-5-fp32-training-k8s/single-node/user-mounted-nfs": "job.yaml",
    "resnet50v1-5-fp32-training-k8s/multi-node/user-mounted-nfs": "mpi-job.yaml",
    "unet-fp32-training-k8s/ps-job-set/user-allocated-pvc": "job-set.yaml",
    "rfcn-fp32-inference-k8s/pipeline/user-mounted-nfs": "workflow.yaml",
    "mnist-fp32-training-k8s/multi-node-train-job/user-allocated-pvc": "training-runtime.yaml",
}
each_kind = pytest.mark.parametrize("name", KINDS)
#: Options that say nothing of containers.
OF_PODS = ("do-not-disrupt", "limits", "node-pool", "pull-secret", "queue", "scheduling", "spread")


@dataclass(frozen=True)
class User:
    """A user's copy of a package: a use case, and the file of its workload, to be edited."""

    place: Place
    file: Path
    scratch: Path

    def edit(self, change: str, to: str, count: int = 0) -> None:
        text, changed = re.subn(change, to, self.file.read_text(), count=count, flags=re.MULTILINE)
        assert changed, change
        self.file.write_text(text)

    def add(self, kustomize: Served, *names: str) -> subprocess.CompletedProcess[str]:
        return add(kustomize, self.scratch, self.place.folder, *(self.place.option(name) for name in names))

    def build(self, kustomize: Served, *choices: tuple[str, ...]) -> list[list[Object]]:
        """Build the use case with each choice of options."""
        return build_all(kustomize, self.scratch, [Build(self.place, options) for options in choices])


@pytest.fixture
def user(name: str, catalogue: Catalogue, tmp_path: Path) -> User:
    place = catalogue.place(name)
    shutil.copytree(catalogue.root / place.package, tmp_path / place.package)
    own = replace(place, folder=tmp_path / place.package / place.path)
    return User(own, own.folder / KINDS[name], tmp_path / "scratch")


def _of_containers(user: User) -> list[str]:
    """Return the options that have to do with containers."""
    return [each for each in user.place.options if each not in OF_PODS]


@each_kind
def test_a_container_that_was_renamed_is_refused(user: User, served5: Served) -> None:
    user.edit(r"^(\s+- name: )(training|mpi-launcher|mpi-worker|node|server|preprocess|test)\b", r"\1mine")
    for option in _of_containers(user):
        assert_refused(user.add(served5, option), option)


@each_kind
def test_a_container_in_front_is_refused(user: User, served5: Served) -> None:
    mine = "name: mine, image: mine, envFrom: [], volumeMounts: [], resources: {limits: {}}"
    if user.file.name == "workflow.yaml":
        user.edit(r"^(\s+)templates:$", rf"\1templates:\n\1- {{name: mine, container: {{{mine}}}}}")
    else:
        user.edit(r"^(\s+)containers:$", rf"\1containers:\n\1- {{{mine}}}")
    for option in _of_containers(user):
        assert_refused(user.add(served5, option), option)


@each_kind
@pytest.mark.parametrize(
    ("field", "option"),
    [
        ("affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: []}}", "node-pool"),
        ("topologySpreadConstraints: []", "spread"),
    ],
)
def test_what_would_be_replaced_is_refused(user: User, field: str, option: str, served5: Served) -> None:
    user.edit(r"^(\s+)(nodeSelector: .*)$", rf"\1\2\n\1{field}")
    if option in user.place.options:
        assert_refused(user.add(served5, option), option)


@each_kind
def test_gpus_of_its_own_are_refused(user: User, served5: Served) -> None:
    user.edit(r"^(\s+)(cpu: \"\d+\".*)$", r"\1\2\n\1nvidia.com/gpu: 4")
    if "gpus" in user.place.options:
        assert_refused(user.add(served5, "gpus"), "gpus")


@each_kind
def test_an_option_added_twice_is_refused_where_it_would_do_more(user: User, served5: Served) -> None:
    more = [each for each in user.place.options if each in (*DATASETS, "gpus", "node-pool", "spread")]
    for option in [*more, *(["environment"] if user.file.name == "mpi-job.yaml" else [])]:
        assert_refused(user.add(served5, option, option), option)


@each_kind
def test_two_sources_of_data_are_refused(user: User, served5: Served) -> None:
    for one, other in permutations(DATASETS, 2):
        assert_refused(user.add(served5, one, other), other)


@pytest.mark.parametrize("name", [*KINDS][:1])
def test_a_file_of_an_option_that_was_deleted_is_named(user: User, kustomize: Served) -> None:
    (user.place.option("gpus") / "pods.yaml").unlink()
    done = user.add(kustomize, "gpus")
    assert done.returncode
    assert "pods.yaml" in done.stderr


@pytest.mark.parametrize("package", sorted({name.split("/")[0] for name in KINDS}))
def test_kustomize_3_sets_the_parameters_of_options_once_for_all_kinds(
    package: str, catalogue: Catalogue, cfg3: Cfg, served5: Served, tmp_path: Path
) -> None:
    shutil.copytree(catalogue.root / package, tmp_path / package)
    options = tmp_path / package / "options"
    values = {
        "GPUS": "7",
        "DATASET_SIZE": "7Ti",
        "DEADLINE_SECONDS": "77",
        "TTL_SECONDS": "777",
        "DATASET_HOST_PATH": "/seven",
        "S3_ENDPOINT": "https://seven.example.com",
        "AWS_CLI_IMAGE": "seven-value/amazon/aws-cli:",  # which follows from REGISTRY
    }
    setters = re.findall(r"setters\.(\S+):$", (options / "Krmfile").read_text(), re.MULTILINE)
    values |= {name: "seven-value" for name in setters if name not in (*values, "SPREAD_ELSE")}
    for name in setters:
        cfg3.done("set", ".", name, values.get(name, "DoNotSchedule"), cwd=options)
    places = [each for each in catalogue.shapes() if each.package == package]
    for place in places:
        folder = tmp_path / package / place.path
        for option in place.options:
            own = re.findall(r'"\$openapi":"(\w+)"', "".join(file.read_text() for file in (options / option).iterdir()))
            built = add(served5, tmp_path / "scratch", folder, options / option).stdout
            if "kind: TrainJob" in built:  # which Trainer never deletes
                own = [name for name in own if name != "TTL_SECONDS"]
            for name in own:
                assert values.get(name, "DoNotSchedule") in built, f"{place}: {option}: {name}"
