"""What looks like a secret in a run is in no record that everybody reads, and in no output; rollback has it."""

from __future__ import annotations

import json

import pytest

from commandline import packyard
from controlplane.api import Api
from packyard.core.errors import ConflictError, IntegrityError
from packyard.running.runs import concealed, undeploy
from packyard.running.runs import deploy as deploying
from packyard.running.runs import record as records
from packyard.running.runs.concealed import OTHER
from packyard.running.runs.deploy import Plan
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.livediff import readable
from packyard.running.runs.run import Object
from running.wanted import WHEN, config_map, deployment, prepared, secret

KEY, ADDRESS = "0123456789abcdef", "redis://:opensesame@cache:6379/0"


def server(token: str = "t0ken-of-mine", **data: str) -> list[Object]:
    made = deployment("server")
    container = made["spec"]["template"]["spec"]["containers"][0]
    env = [{"name": "HF_TOKEN", "value": token}, {"name": "MAX_TOKENS", "value": "512"}]
    pod = {
        **made["spec"]["template"]["spec"],
        "containers": [{**container, "env": env, "args": [f"--api-key={token}"]}],
    }
    made["spec"]["template"]["spec"] = pod
    return [config_map(**{"WANDB_API_KEY": KEY, "CACHE": ADDRESS, "EPOCHS": "3", **data}), made, secret("s", x="in")]


def put(client: Kubectl, *objects: Object) -> Plan:
    made = deploying.plan(client, prepared(*objects), who="ann", when=WHEN, force=True)
    assert not list(deploying.carry_out(client, made, keep=2))
    return made


def test_texts_are_found_by_name_and_by_look_and_come_back_where_they_were() -> None:
    objects = records.public(server(**{"app.ini": "user = a\npassword = opensesame\n", "TOKEN_FILE": "/run/token"}))
    shown, texts = concealed.split(objects)
    assert sorted(concealed.named(objects, list(texts))) == [
        "ConfigMap settings: data.CACHE",
        "ConfigMap settings: data.WANDB_API_KEY",
        "ConfigMap settings: data.app.ini",
        "Deployment server: spec.template.spec.containers.0.args.0",
        "Deployment server: spec.template.spec.containers.0.env.0.value",
    ]
    assert shown[0]["data"] == {
        "CACHE": "",
        "WANDB_API_KEY": "",
        "app.ini": "",
        "EPOCHS": "3",
        "TOKEN_FILE": "/run/token",
    }
    assert concealed.join(shown, texts, "x") == objects
    assert concealed.compared(objects, objects) == shown
    assert concealed.compared(objects, [{}, {}, {}])[0]["data"]["CACHE"] == OTHER
    for place in ("/0/data/EPOCHS", "/9/data/x", "/0/data/x/y", "/x", "", "/0/data"):
        with pytest.raises(IntegrityError):
            concealed.join(shown, {place: "x"}, "x")


def test_rollback_has_what_no_record_shows(client: Kubectl, cluster: Api, namespace: str) -> None:
    first = put(client, *server())
    assert [each.partition(" looks")[0] for each in first.warnings][:1] == ["ConfigMap settings: data.WANDB_API_KEY"]
    assert not put(client, *server()).is_new
    put(client, *server(WANDB_API_KEY="another-key"))
    maps = json.dumps(
        [each for each in cluster.list("v1", "ConfigMap", namespace) if each["metadata"]["name"] != "settings"]
    )
    written = json.dumps([each.read_objects() for each in records.read_run(client, "first")])
    for text in (KEY, "another-key", "opensesame", "t0ken"):
        assert text not in maps + written
    flags = (f"--namespace={namespace}", f"--kubeconfig={cluster.folder / 'kubeconfig'}")
    shown = packyard("rollback", "first", "1", "--force", "--diff", *flags).stdout
    assert ("-  WANDB_API_KEY: *** (before)\n+  WANDB_API_KEY: *** (after)" in shown, KEY in shown) == (True, False)
    back = packyard("rollback", "first", "1", "--force", "--no-wait", *flags)
    assert back.returncode == 0, back.stderr
    assert cluster.read(config_map(), namespace).body["data"]["WANDB_API_KEY"] == KEY
    table = packyard("rollback", "first", "--list", *flags).stdout
    assert table.splitlines()[-1].endswith("rolled back to record 1")
    stored = [each["metadata"]["name"] for each in cluster.list("v1", "Secret", namespace)]
    assert sorted(stored) == ["packyard.first.1", "packyard.first.2", "packyard.first.3", "s"]
    put(client, *server(EPOCHS="4"))  # keeps two
    assert len(cluster.list("v1", "Secret", namespace)) == 3
    cluster.delete({**secret("packyard.first.3"), "metadata": {"name": "packyard.first.3"}}, namespace).expect_done()
    with pytest.raises(ConflictError, match="keeps what looks like a secret in record 3, is not there"):
        records.whole(client, records.read_run(client, "first")[0])
    removal = undeploy.find(client, records.read_all(client))
    undeploy.delete(client, removal, claims=False)
    undeploy.forget(client, removal)
    assert cluster.list("v1", "Secret", namespace) == []


def test_a_diff_masks_variables_and_texts_that_look_like_secrets() -> None:
    lines = [
        " spec:",
        "-    - name: API_KEY",
        "-      value: abc",
        "+    - name: LEVEL",
        "+      value: info",
        "+    - --token=t0ken",
        f"+  CACHE: {ADDRESS}",
        f"+    url={ADDRESS}",
    ]
    head = "diff -u -N a b\n--- /tmp/LIVE-1/v1.Pod.ml.x\t1\n+++ /tmp/MERGED-1/v1.Pod.ml.x\t1\n@@ -1,3 +1,6 @@\n"
    assert readable((head + "\n".join(lines) + "\n").encode()).decode().splitlines()[3:] == [
        " spec:",
        "-    - name: API_KEY",
        "-      value: *** (before)",
        "+    - name: LEVEL",
        "+      value: info",
        "+    - *** (after)",
        "+  CACHE: *** (after)",
        "+ ***",
    ]
