"""The Pod Security level that admits pods, and what the next stricter level objects to."""

import pytest

from core.kubernetes.kubernetes_objects import HARDENED, objects
from packyard.core.kubernetes import pod_security
from packyard.core.kubernetes.pods import find_all


def security(text: str) -> str:
    """Return the level that admits pods, and what the next one objects to."""
    level = pod_security.find(find_all(objects(text)))
    assert level is not None
    return f"{level.name}: {'; '.join(level.objections)}"


@pytest.mark.parametrize(
    ("before", "after", "objection"),
    [
        ("{name: tmp, emptyDir: {}}", "{name: x, nfs: {server: '', path: ''}}", "volume x is of the type nfs"),
        ("runAsNonRoot: true", "runAsNonRoot: false", "container c does not set runAsNonRoot: true"),
        ("runAsUser: ''", "", ""),
        ('runAsUser: ""', "runAsUser: 0", "the pod runs as user 0"),
        ("allowPrivilegeEscalation: false", "runAsGroup: 1", "does not set allowPrivilegeEscalation: false"),
        ("drop: [ALL]", "drop: [NET_RAW]", "does not drop the capabilities ALL"),
        ("[NET_BIND_SERVICE]", "[CHOWN]", "adds the capabilities CHOWN"),
        ("{type: RuntimeDefault}", "{}", "does not set seccompProfile"),
        ("allowPrivilegeEscalation: false,", "allowPrivilegeEscalation: false, runAsNonRoot: false,", "runAsNonRoot"),
    ],
)
def test_says_what_restricted_objects_to(before: str, after: str, objection: str) -> None:
    line = security(HARDENED.replace(before, after))
    assert objection in line
    assert line.startswith("baseline: " if objection else "restricted: ")


@pytest.mark.parametrize(
    ("pod", "objection"),
    [
        ("hostNetwork: true", "hostNetwork is on"),
        ("volumes: [{name: h, hostPath: {path: /}}]", "volume h is a hostPath"),
        ("initContainers: [{name: i, securityContext: {privileged: true}}]", "container i is privileged"),
        ("initContainers: [{name: i, ports: [{hostPort: 80}]}]", "container i has a hostPort"),
        ("initContainers: [{name: i, securityContext: {capabilities: {add: [SYS_ADMIN]}}}]", "capabilities SYS_ADMIN"),
        ("initContainers: [{name: i, securityContext: {procMount: Unmasked}}]", "changes procMount"),
        ("securityContext: {seccompProfile: {type: Unconfined}}", "the pod has an unconfined seccompProfile"),
        ("securityContext: {seLinuxOptions: {type: spc_t}}", "the pod changes seLinuxOptions"),
        ("securityContext: {sysctls: [{name: kernel.msgmax, value: '1'}]}", "sets the sysctl kernel.msgmax"),
    ],
)
def test_says_what_baseline_objects_to(pod: str, objection: str) -> None:
    line = security(f"{{kind: Pod, spec: {{containers: [{{name: c}}], {pod}}}}}")
    assert line.startswith("privileged: ")
    assert objection in line
