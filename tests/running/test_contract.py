"""What a container is to find, as its command, its variables and its mounts say."""

from __future__ import annotations

from typing import Any

import pytest

from packyard.running.probe import contract

COMMANDS = {
    "a program": (["tensorboard", "--logdir", "/x"], ["program tensorboard"]),
    "Python": (["python3", "-u", "train.py", "x.py"], ["program python3", "script train.py"]),
    "Python with a value": (["python3", "-X", "dev", "train.py"], ["program python3"]),
    "a module": (["python", "-m", "a.b", "c.py"], ["program python", "module python a.b"]),
    "code": (["python3", "-c", "print()", "x.py"], ["program python3"]),
    "a script": (["bash", "scripts/$(NAME)"], ["program bash", "script scripts/$(NAME)"]),
    "a wrapper": (
        ["python3", "/scripts/run.py", "python3", "$(NAME)"],
        ["program python3", "script /scripts/run.py", "script $(NAME)"],
    ),
    "MPI": (
        ["mpirun", "-np", "2", "/opt/bin/python3.9", "/a.py"],
        ["program mpirun", "program /opt/bin/python3.9", "script /a.py", "program ssh", "user -"],
    ),
    "a server for MPI": (["/usr/sbin/sshd", "-De"], ["program /usr/sbin/sshd", "user -"]),
    "a shell": (
        ["/bin/sh", "-euc", '# python2 x.py\nexec 3>log; set -- "$@"\nexec python3 -u "${NAME}" $HERE', "a", "mpirun"],
        ["program /bin/sh", "program python3", "script $(NAME)", "program mpirun", "program ssh", "user -"],
    ),
    "what a shell becomes": (["sh", "-c", 'exec packyard publish "$X"'], ["program sh", "program packyard"]),
    "a shell with options": (["bash", "-o", "pipefail", "-c", "true"], ["program bash"]),
    "the image's own": ([], []),
    "a parameter of Argo": (["python3", "{{inputs.parameters.file}}/a.py"], ["program python3"]),
    "no texts": ([1, None, {"a": "b"}], []),
}


@pytest.mark.parametrize(("command", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_programs_and_files_follow_from_the_command(command: list[Any], expected: list[str]) -> None:
    assert found({"command": command, "env": [{"name": "NAME", "value": "a.py"}]}) == expected


def found(container: dict[str, Any], *objects: dict[str, Any]) -> list[str]:
    volumes = [
        {"name": "data", "nfs": {}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "claim", "persistentVolumeClaim": {}},
    ]
    checks = contract.find(container, volumes, objects)
    return [f"{each.kind} {each.word}{' awaited' if each.is_awaited else ''}" for each in checks]


def test_folders_follow_from_variables_and_mounts() -> None:
    data = {
        "DATA": "/data/set",
        "RESULTS": "/data/out/x",
        "SCRATCH": "/tmp/x",
        "NEAR": "/database",
        "RELATIVE": "a",
        "N": 1,
    }
    variables = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "run"}, "data": data}
    mounts = [
        {"name": "data", "mountPath": "/data/", "readOnly": True},
        {"name": "claim", "mountPath": "/data/out"},
        {"name": "claim", "mountPath": "/other"},
        {"name": "tmp", "mountPath": "/tmp"},
    ]
    key = {"configMapKeyRef": {"name": "run", "key": "DATA"}}
    container = {
        "envFrom": [{"configMapRef": {"name": "run"}}, {"secretRef": {"name": "x"}}],
        "env": [{"name": "BELOW", "value": "$(DATA)/$$(a)"}, {"name": "SAME", "valueFrom": key}, {"name": "FIELD"}],
        "volumeMounts": mounts,
    }
    waiting = {"initContainers": [{"command": ["sh", "-c", "until ls $DATA; do sleep 1; done"]}], "containers": []}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": waiting}
    expected = ["read $(DATA)", "write $(RESULTS)", "read $(BELOW)", "read $(SAME)", "list /other"]
    assert found(container, variables) == expected
    assert found(container, variables, pod) == ["read $(DATA) awaited", *expected[1:]]


def test_names_follow_from_addresses() -> None:
    env = [{"name": "A", "value": "http://u:p@a.example:9000/x https://10.0.0.5/ ftp://no.example"}]
    container = {"command": ["curl", "https://$(HOST)/x"], "env": [*env, {"name": "HOST", "value": "b.example"}]}
    assert found(container) == ["program curl", "name a.example", "name b.example"]


def test_what_is_looked_for_is_bounded() -> None:
    env = [{"name": f"A{number}", "value": f"http://a{number}.example"} for number in range(1000)]
    assert len(found({"command": ["a"], "env": env})) == 60
