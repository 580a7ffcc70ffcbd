"""The sentences of kubectl and the API server that our code understands: the real ones say them so.

Those about a kubeconfig are judged by test_kubeconfigs, those of the scheduler, of quotas, of Pod Security and of
webhooks about pods by test_fault_set.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from controlplane import people
from controlplane.api import Api, Object
from packyard.running.doctor import facts
from packyard.running.runs import kubectl, look, plan
from packyard.running.runs.kubectl import Kubectl, listed, split
from running.wanted import config_map, deployment, item, job

_POD = ("create", "--dry-run=server", "--validate=ignore", "--filename=-")
_APPLY = ("apply", "--server-side", "--validate=false", "--filename=-")
_CREATE = ("create", "--validate=false", "--filename=-")


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """What a call of kubectl says, ``objects`` being its standard input; ``there`` are created before."""

    call: Sequence[str]
    pattern: re.Pattern[str] | str
    gives: Sequence[object] = ()
    objects: Sequence[Object] = ()
    there: Sequence[Object] = ()
    user: str = ""
    namespace: str = ""


def bare_pod(**spec: object) -> Object:
    return item("v1", "Pod", "a", spec={"containers": [{"name": "a", "image": "a"}], **spec})


def set_of(**spec: object) -> Object:
    own = deployment()["spec"]
    return item("apps/v1", "StatefulSet", "a", spec={**own, "serviceName": "a", **spec})


def binding(role: str) -> Object:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role}
    return item("rbac.authorization.k8s.io/v1", "RoleBinding", "a", roleRef=reference)


def changing(before: Object, after: Object) -> Sentence:
    """Return what is said where a field of an object can no longer be changed."""
    words = (*_APPLY, "--force-conflicts", "--dry-run=server")
    return Sentence(call=words, there=[before], objects=[after], pattern=plan._FIXED)


_ODD = item("nobody.example/v1", "Dragon", "a")
_FIXED = {**config_map("fixed", x="1"), "immutable": True}
SENTENCES = {
    "may not list": Sentence(
        call=["get", "pods"], user="eve", pattern=kubectl.FORBIDDEN, gives=[("pods", "")]
    ),
    "may not create": Sentence(
        call=_CREATE, objects=[config_map()], user="eve", pattern=kubectl._NO_RIGHT
    ),
    "may not read logs": Sentence(call=["logs", "a"], user="eve", pattern=r"\(Forbidden\)"),
    "no such resource": Sentence(call=["get", "dragons"], pattern=kubectl.UNKNOWN, gives=["dragons"]),
    "no such kind": Sentence(
        call=["get", "--filename=-"], objects=[_ODD], pattern=look._UNSERVED, gives=[("Dragon", "nobody.example/v1")]
    ),
    "no namespace": Sentence(
        call=_CREATE, objects=[config_map()], namespace="none", pattern=kubectl.NO_NAMESPACE, gives=["none"]
    ),
    "a pod": changing(bare_pod(), bare_pod(restartPolicy="Never")),
    "a Job": changing(job(), job(cpu="2")),
    "a StatefulSet": changing(set_of(), set_of(serviceName="b")),
    "a RoleBinding": changing(binding("a"), binding("b")),
    "a ConfigMap": changing(_FIXED, {**_FIXED, "data": {"x": "2"}}),
}  # fmt: skip


@pytest.fixture
def asked(api_server: Api, namespace_of_server: str, tmp_path: Path) -> Callable[..., str]:
    """Call it with a sentence's call and input: what kubectl says is returned."""

    def say(call: Sequence[str], objects: Sequence[Object] = (), user: str = "", namespace: str = "") -> str:
        config = api_server.folder / "kubeconfig"
        if user:
            config = people.kubeconfig(api_server, user, namespace_of_server, tmp_path)
        client = found(config, namespace or namespace_of_server)
        data = listed(objects) if objects else b""
        return client.ask(call, data).errors

    return say


@pytest.fixture
def namespace_of_server(api_server: Api) -> str:
    """A namespace with the account of its pods: no controller makes it here, unless other tests have started some."""
    name = api_server.create_namespace("privileged")
    api_server.apply(item("v1", "ServiceAccount", "default"), name).expect_done()
    return name


def found(config: Path, namespace: str) -> Kubectl:
    return kubectl.find(os.environ["PATH"], kubeconfig=str(config), namespace=namespace)


@pytest.mark.usefixtures("kubectl")
@pytest.mark.parametrize("name", SENTENCES)
def test_it_is_understood(name: str, asked: Callable[..., str]) -> None:
    sentence = SENTENCES[name]
    if sentence.there:
        assert not asked([*_APPLY, "--field-manager=a"], sentence.there)
    said = asked(sentence.call, sentence.objects, sentence.user, sentence.namespace)
    (problem,) = split(said) if isinstance(sentence.pattern, re.Pattern) and sentence.there else (said,)
    matches = re.findall(sentence.pattern, problem)
    assert matches, said
    assert not sentence.gives or matches == sentence.gives, said


@pytest.mark.usefixtures("kubectl")
def test_several_errors_are_told_apart_without_what_is_said_beside(asked: Callable[..., str]) -> None:
    wrong = [config_map("A_"), item("v1", "Service", "b", spec={"ports": []}), _ODD, config_map(x=1)]
    problems = split(asked(_APPLY, [*wrong, config_map("right")]))
    assert len(problems) == len(wrong), problems
    assert not [each for each in problems if re.match(r"error|Error from server|.* when creating|The ", each)], problems


@pytest.mark.usefixtures("kubectl")
def test_warnings_stand_apart(api_server: Api, namespace_of_server: str) -> None:
    client = found(api_server.folder / "kubeconfig", namespace_of_server)
    old = bare_pod(nodeSelector={"beta.kubernetes.io/os": "linux"})
    done = client.ask(_POD, json.dumps(old).encode())
    assert (done.code, done.errors) == (0, "")
    assert [warning for warning in done.warnings if "beta.kubernetes.io/os" in warning], done


@pytest.mark.usefixtures("kubectl")
def test_each_line_of_an_error_begins_as_facts_expect(asked: Callable[..., str]) -> None:
    for call, user in ((["get", "dragons"], ""), (["get", "pods"], "eve")):
        said = asked(call, (), user)
        assert all(line.startswith(facts._ERRORS) for line in said.splitlines()), said
