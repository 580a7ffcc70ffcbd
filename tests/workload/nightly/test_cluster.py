"""The node itself: that what a pod says is what its processes get, on pods of a few lines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import tiny
from workload import controllers, deploy
from workload.cluster import Cluster
from workload.objects import Object, RefusedError

NewCluster = Callable[[list[Object]], Cluster]


def sample(text: str) -> Object:
    found = yaml.safe_load(text)
    assert isinstance(found, dict)
    return found


def pod(script: str, spec: str = "{}", container: str = "{}", name: str = "p") -> Object:
    """Return a pod that runs a script of the shell."""
    command = {"name": "c", "command": ["/bin/sh", "-c", script, "-"], **sample(container)}
    metadata = {"name": name, "namespace": "ml", "labels": {"app": name}}
    return {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [command], **sample(spec)}}


def printed(cluster: Cluster, described: Object) -> str:
    started = cluster.start(described)
    assert started.wait() == 0, started.log
    return started.containers[0].log


# Who a process is.


def test_a_process_is_root_with_what_a_runtime_leaves_it(new_cluster: NewCluster) -> None:
    found = printed(new_cluster([]), pod("id -u; id -G; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status"))
    assert found.split() == ["0", "0", "CapEff:", "00000000a80425fb", "CapBnd:", "00000000a80425fb", "NoNewPrivs:", "0"]


def test_what_a_pod_drops_adds_and_forbids_is_so(new_cluster: NewCluster) -> None:
    context = (
        "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}, "
        "runAsUser: 41234}"
    )
    groups = "securityContext: {runAsUser: 5, runAsGroup: 6, fsGroup: 7, supplementalGroups: [8, 9]}"
    script = "id -u; id -g; id -G; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status"
    found = printed(new_cluster([]), pod(script, groups, context))
    assert found.split()[:6] == ["41234", "6", "6", "7", "8", "9"]
    assert found.split()[6:] == ["CapEff:", "0000000000000000", "CapBnd:", "0000000000000400", "NoNewPrivs:", "1"]


def test_root_is_refused_where_it_must_not_be(new_cluster: NewCluster) -> None:
    with pytest.raises(RefusedError, match="runAsNonRoot"):
        new_cluster([]).start(pod("true", "securityContext: {runAsNonRoot: true}"))


def test_an_init_container_that_fails_stops_the_pod(new_cluster: NewCluster) -> None:
    described = pod("true", "initContainers: [{name: i, command: [sh, -c, 'echo no room; exit 3']}]")
    with pytest.raises(AssertionError, match="init container i failed:\nno room"):
        new_cluster([]).start(described)


def test_a_pod_that_is_to_end_has_its_hook_run_by_its_user_before_the_signal(new_cluster: NewCluster) -> None:
    hook = "lifecycle: {preStop: {exec: {command: [sh, -c, 'echo $GREETING $(id -u) >/tmp/noted']}}}"
    script = "trap 'cat /tmp/noted; exit 7' TERM; echo ready; while :; do read -t 0.1 _ </dev/zero || :; done"
    container = f"{{env: [{{name: GREETING, value: hello}}], command: [bash, -c, {json.dumps(script)}], {hook}}}"
    cluster = new_cluster([])
    started = cluster.start(pod("", "securityContext: {runAsUser: 41234}", container))
    deploy.wait_until(lambda: "ready" in started.log, [started])
    cluster.end(started)
    assert started.wait() == 7
    assert started.containers[0].log == "ready\nhello 41234\n"


# What it sees of the disk.

SECRET = {"kind": "Secret", "metadata": {"name": "s"}, "stringData": {"key": "secret", "other": "x"}}


def test_files_of_a_secret_have_the_mode_that_is_said_and_the_group_of_the_pod(new_cluster: NewCluster) -> None:
    spec = """
securityContext: {runAsUser: 41234, runAsGroup: 41234, fsGroup: 43456}
volumes:
- {name: s, secret: {secretName: s, defaultMode: 0400, items: [{key: key, path: a/b}]}}
- {name: d, emptyDir: {}}
"""
    mounts = """
volumeMounts:
- {name: s, mountPath: /s}
- {name: s, mountPath: /etc/one, subPath: a/b}
- {name: d, mountPath: /d/e}
"""
    script = "stat -Lc '%u %g %a %n' /s/a/b /s/a /etc/one /d/e; cat /etc/one; ls /s"
    found = printed(new_cluster([SECRET]), pod(script, spec, mounts))
    assert found.splitlines() == [
        "0 43456 440 /s/a/b",
        "0 43456 2755 /s/a",
        "0 43456 440 /etc/one",
        "0 43456 2777 /d/e",
        "secreta",
    ]


def test_a_read_only_root_leaves_the_volumes_that_are_not(new_cluster: NewCluster) -> None:
    spec = "{volumes: [{name: d, emptyDir: {}}, {name: p, persistentVolumeClaim: {claimName: c}}]}"
    container = """
securityContext: {readOnlyRootFilesystem: true}
env: [{name: USER, value: ann}]
volumeMounts:
- {name: d, mountPath: /tmp}
- {name: p, mountPath: /data, subPath: data, readOnly: true}
- {name: p, mountPath: /mine, subPathExpr: users/$(USER)}
"""
    script = "for d in / /usr /tmp /data /mine; do touch $d/f 2>/dev/null && echo $d; done; true"
    cluster = new_cluster([])
    described = pod(script, spec, container)
    assert printed(cluster, described).split() == ["/tmp", "/mine"]
    assert (cluster.storage(described["spec"]["volumes"][1]) / "users/ann/f").exists()


def test_a_root_that_is_not_read_only_is_the_pods_own(new_cluster: NewCluster) -> None:
    cluster = new_cluster([])
    script = "test ! -e /opt/mark && touch /opt/mark"
    assert [cluster.start(pod(script, name=name)).wait() for name in ("one", "two")] == [0, 0]
    assert not Path("/opt/mark").exists()


EXPORT = """
securityContext: {runAsUser: 41234, runAsGroup: 42345}
volumes: [{name: e, nfs: {server: s, path: /e}}]
"""


def test_an_export_of_a_group_is_mounted_whole_and_a_directory_of_it_is_not(new_cluster: NewCluster) -> None:
    """A kubelet looks for a subPath as root, which the server takes for nobody."""
    cluster = new_cluster([])
    described = pod("mkdir /e/data && ls /e", EXPORT, "volumeMounts: [{name: e, mountPath: /e}]")
    assert printed(cluster, described) == "data\n"
    described = pod("ls /e", EXPORT, "volumeMounts: [{name: e, mountPath: /e, subPath: data}]")
    with pytest.raises(RefusedError, match='failed to prepare subPath for volumeMount "e"'):
        cluster.start(described)


# What it sees of others.

SERVICE = """
kind: Service
metadata: {name: svc}
spec: {clusterIP: None, selector: {app: server}, publishNotReadyAddresses: %s}
"""


@pytest.mark.parametrize("early", [True, False])
def test_a_pod_has_a_name_when_it_is_ready_or_its_service_does_not_mind(early: bool, new_cluster: NewCluster) -> None:
    cluster = new_cluster([sample(SERVICE % str(early).lower())])
    probe = "readinessProbe: {tcpSocket: {port: 9}}"
    server = cluster.start(pod("sleep infinity", "{hostname: host, subdomain: svc}", probe, name="server"))
    asked = pod("getent ahostsv4 $0 | head -1 | cut -d ' ' -f 1", name="client")
    names = ["host.svc", "host.svc.ml", "host.svc.ml.svc", "host.svc.ml.svc.cluster.local", "svc"]
    for name in [*names, "host"]:
        asked["spec"]["containers"][0]["command"][3] = name
        assert printed(cluster, asked).strip() == (server.address if early and name in names else "")


def test_pods_reach_each_other_and_nobody_else(new_cluster: NewCluster) -> None:
    cluster = new_cluster([sample(SERVICE % "false")])
    serve = "python3 -c 'import http.server as h; h.test(h.SimpleHTTPRequestHandler, port=8000)'"
    probe = "readinessProbe: {httpGet: {port: http, path: /etc/hostname}}\nports: [{name: http, containerPort: 8000}]"
    server = cluster.start(pod(f"cd /; {serve}", container=probe, name="server"))
    cluster.wait_ready(server)
    ask = "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://svc:8000/etc/hostname\").status)'"
    assert printed(cluster, pod(ask)).strip() == "200"
    assert printed(cluster, pod("ip -o route show default; ip -o link | wc -l")).strip() == "2"


POLICY = """
kind: NetworkPolicy
metadata: {name: policy}
spec:
  podSelector: {matchLabels: {app: server}}
  policyTypes: [Ingress]
  ingress: %s
"""


@pytest.mark.parametrize(
    ("ingress", "reaching"),
    [
        ("[{}]", {"friend", "stranger"}),
        ("[{from: [{podSelector: {}}]}]", {"friend", "stranger"}),
        ("[{from: [{podSelector: {matchLabels: {app: friend}}}]}]", {"friend"}),
        ("[]", set()),
    ],
)
def test_a_network_policy_lets_those_connect_that_it_names(
    ingress: str, reaching: set[str], new_cluster: NewCluster
) -> None:
    cluster = new_cluster([sample(POLICY % ingress)])
    probe = "readinessProbe: {tcpSocket: {port: 8000}}"
    server = cluster.start(pod("python3 -m http.server 8000", container=probe, name="server"))
    cluster.wait_ready(server)
    ask = f"python3 -c 'import socket; socket.create_connection((\"{server.address}\", 8000), 1)'"
    asking = [cluster.start(pod(ask, name=name)) for name in ("friend", "stranger")]
    assert {each.name for each in asking if each.wait() == 0} == reaching


# Pods of one set.

INDEXED_JOB = tiny.text("workload/indexed-job.yaml")


def test_each_index_of_a_job_knows_itself_and_its_peers(new_cluster: NewCluster) -> None:
    cluster = new_cluster([sample(SERVICE % "true")])
    pods = deploy.run_pods(cluster, sample(INDEXED_JOB))
    assert [started.wait() for started in pods] == [0, 0, 0]
    assert [started.containers[0].log for started in pods] == [f"set {index} set-{index}\n" for index in range(3)]


def test_a_job_starts_as_many_pods_at_a_time_as_it_says(new_cluster: NewCluster) -> None:
    job = sample(INDEXED_JOB)
    job["spec"] |= {"completions": 4, "parallelism": 2}
    spec = job["spec"]["template"]["spec"]
    spec["volumes"] = [{"name": "p", "persistentVolumeClaim": {"claimName": "c"}}]
    container = spec["containers"][0]
    container["volumeMounts"] = [{"name": "p", "mountPath": "/p"}]
    # The first waits for the second: one at least sees both, and a third, if there were one, has the time to come.
    container["command"] = [
        "sh",
        "-c",
        """
mkdir -p /p/now /p/ever && touch /p/now/$HOSTNAME /p/ever/$HOSTNAME
until [ $(ls /p/ever | wc -l) -ge 2 ]; do sleep 0.05; done
ls /p/now; sleep 0.5; rm /p/now/$HOSTNAME
""",
    ]
    pods = deploy.run_pods(new_cluster([]), job)
    assert [started.wait() for started in pods] == [0] * 4
    assert max(len(started.containers[0].log.split()) for started in pods) == 2


def test_a_container_that_failed_starts_again_where_its_pod_says_so(new_cluster: NewCluster) -> None:
    spec = "{restartPolicy: %s, volumes: [{name: d, emptyDir: {}}]}"
    mounts = "volumeMounts: [{name: d, mountPath: /d}]"
    cluster = new_cluster([])
    script = "hostname -I; test -e /d/tried || { touch /d/tried; exit 3; }"
    for policy, codes in (("OnFailure", [3, 0, 0]), ("Never", [3, 3, 3])):
        started = cluster.start(pod(script, spec % policy, mounts))
        found = []
        for _ in codes:
            found.append(started.wait())
            assert started.log.split()[-1] == started.address
            cluster.restart(started)
        assert found == codes


def test_a_worker_that_is_killed_leaves_the_others_alone(new_cluster: NewCluster) -> None:
    cluster = new_cluster([])
    job = sample(INDEXED_JOB)
    job["spec"]["template"]["spec"]["containers"][0]["command"] = ["sleep", "infinity"]
    first, second, third = deploy.run_pods(cluster, job)
    second.kill()
    assert [started.containers[0].process.poll() is None for started in (first, second, third)] == [True, False, True]
    again = cluster.start(controllers.indexed_pod(job, 1, suffix="again"))
    assert again.hostname == second.hostname


# The end.

LEAVES = """
import sys
from pathlib import Path
from workload.cluster import Cluster
from workload.objects import Objects

container = {"name": "c", "command": ["sleep", "600"], "securityContext": {"runAsUser": 41234}}
with Cluster(Path(sys.argv[1]), Objects()) as cluster:
    pod = cluster.start({"metadata": {"name": "p"}, "spec": {"containers": [container]}})
    link = pod.folder / "c.0" / "pid"
    while not link.is_symlink():
        pass
    print(link.readlink(), flush=True)
    sys.stdin.read()
"""


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("killed", [True, False])
def test_no_process_outlives_the_one_that_started_it(killed: bool, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", LEAVES, str(tmp_path / "left")]
    with subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        left = Path("/proc") / process.stdout.readline().strip()
        assert (left / "status").exists()
        if killed:
            process.send_signal(signal.SIGKILL)
        process.stdin.close()
        process.wait()
    deadline = time.monotonic() + 30
    while left.exists():
        assert time.monotonic() < deadline, f"{left} is still there"
        time.sleep(0.02)
