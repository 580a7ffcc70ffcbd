"""Trees of other projects: what kustomize and clusters take is no fault, whoever wrote it and however."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import tiny
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import schemas
from packyard.writing.checks import folder

Lint = Callable[..., list[str]]

#: What other trees of a few lines lack as well.
_PRACTICE = ("no-labels", "no-resources", "runs-as-root", "above-restricted", "token-mounted", "no-readiness-probe")
KUSTOMIZATION = "kustomization.yaml"
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {example.com/ports: "1"}}
    spec: {containers: [{name: web, image: 'nginx:1.27', ports: [{containerPort: 80}]}]}
"""


@pytest.fixture
def found(tmp_path: Path) -> Lint:
    """Lint a folder of files: ``file:line severity rule: message`` per finding, without what all such trees lack."""

    def find(files: dict[str, str], but: Sequence[str] = _PRACTICE) -> list[str]:
        tiny.write_all(tmp_path, files)
        linted = folder.lint(Tree(tmp_path), judges=schemas.choose(("1.31",))).findings
        return [
            f"{each.file.removeprefix(f'{tmp_path}/')}:{each.line} {each.severity} {each.rule}: {each.message}"
            for each in linted
            if each.rule not in but
        ]

    return find


def test_labels_fill_a_selector_that_is_null_and_a_broken_one_is_a_finding(found: Lint) -> None:
    files = {KUSTOMIZATION: "resources: [web.yaml]\nlabels: [{pairs: {team: ml}, includeSelectors: true}]\n"}
    assert found({**files, "web.yaml": WEB.replace("{app: web}}\n  template", "null}\n  template")}) == []
    broken = found({**files, "web.yaml": WEB.replace("{app: web}}\n  template", "web}\n  template")})
    assert "web.yaml:5 error wrong-type" in [each.rpartition(": ")[0] for each in broken]


def test_an_account_may_have_the_name_that_a_prefix_gives_it(found: Lint) -> None:
    account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: manager}\n"
    files = {
        KUSTOMIZATION: "namePrefix: stack-\nresources: [web.yaml, account.yaml]\n",
        "web.yaml": WEB.replace("spec: {cont", "spec: {serviceAccountName: stack-manager, cont"),
        "account.yaml": account,
    }
    assert [each for each in found(files) if "dangling" in each] == []
    files["web.yaml"] = files["web.yaml"].replace("stack-manager", "other-manager")
    assert [each for each in found(files) if "dangling" in each] == [
        "web.yaml:8 warning dangling-reference: ServiceAccount 'other-manager' is not in the package"
    ]


@pytest.mark.parametrize(
    ("line", "is_secret"),
    [
        ("MAX_NUM_BATCHED_TOKENS=8192", False),
        ("NUM_BATCHED_TOKENS_LIST=512,1024", False),
        ("HF_TOKEN_SECRET_PROVIDER_CLASS_NAME=hf-read", False),
        ("ALLOW_EMPTY_PASSWORD=yes", False),
        ("HF_TOKEN=$HF_TOKEN", False),
        ("db_password=qu1etly", True),
        ("DB_PASSWORD_2=qu1etly", True),
        ("export HF_TOKEN='abcdefg'", True),
    ],
)
def test_a_variable_is_a_secret_by_its_name_and_by_its_value(found: Lint, line: str, is_secret: bool) -> None:
    assert any("plain-secret" in each for each in found({"a.env": f"{line}\n"})) == is_secret


BROKEN = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    {{- include labels . }}\n  name: a\n"


def test_a_template_that_nobody_builds_is_no_error(found: Lint) -> None:
    assert [each.partition(":")[2][:20] for each in found({"a.yaml": BROKEN})] == ["5 warning unreadable"]
    listed = found({"a.yaml": BROKEN, KUSTOMIZATION: "resources: [a.yaml]\n"})
    assert [each.partition(":")[2][:18] for each in listed] == ["5 error unreadable"]


def test_variables_of_kustomize_and_keys_of_generated_maps_are_known(found: Lint) -> None:
    env = "envFrom: [{configMapRef: {name: settings}}], env: [{name: A, value: $(HOST)}, {name: B, value: $(PORTS)}]"
    var = "vars: [{name: HOST, objref: {kind: Deployment, name: web, apiVersion: apps/v1}}]\n"
    generator = "configMapGenerator: [{name: settings, literals: [PORTS=1]}]\n"
    files = {
        KUSTOMIZATION: f"resources: [web.yaml]\n{var}{generator}",
        "web.yaml": WEB.replace("image:", f"{env}, image:"),
    }
    assert [each for each in found(files) if "undefined" in each] == []


KRMFILE = tiny.krmfile("""\
    io.k8s.cli.setters.REPLICAS:
      description: How many.
      x-k8s-cli: {setter: {name: REPLICAS, value: "1"}}
""")


def test_a_setter_is_not_unused_where_a_file_is_still_empty(found: Lint) -> None:
    listed = "resources: [web.yaml]\npatches: [{path: p.yaml}]\n"
    assert found({"Krmfile": KRMFILE, KUSTOMIZATION: listed, "p.yaml": "# nothing yet\n", "web.yaml": WEB}) == []


PATTERN = (
    "[{name: '*', (image): '*:latest', resources: {limits: {memory: '?*'}}, livenessProbe: {periodSeconds: '>0'}}]"
)
PARTIAL = "[{name: a, volumeMounts: [{name: from-the-operator, mountPath: /a}], ports: [{containerPort: web}]}]"
SERVED = WEB.replace("ports: [{containerPort: 80}]", "ports: [{containerPort: 80}], args: [--requirepass $(PASS)]")
SERVED += (
    "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 8443}]}\n"
)
GENERATOR = "{clusterDecisionResource: {configMapRef: placement}}"
LOCAL = "annotations: {config.kubernetes.io/local-config: 'true'}"


@pytest.mark.parametrize(
    ("kind", "rest"),
    [
        (
            "kyverno.io/v1 ClusterPolicy",
            f"spec: {{rules: [{{validate: {{pattern: {{spec: {{containers: {PATTERN}}}}}}}}}]}}",
        ),
        (
            "mutations.gatekeeper.sh/v1 Assign",
            f"spec: {{parameters: {{assign: {{value: {{containers: {PATTERN}}}}}}}}}",
        ),
        ("example.com/v1 Server", f"spec: {{containers: {PARTIAL}}}"),
        ("example.com/v1 Server", f"spec: {{template: {{spec: {{containers: {PARTIAL}}}}}}}"),
        ("argoproj.io/v1alpha1 ApplicationSet", f"spec: {{generators: [{GENERATOR}], template: {{}}}}"),
        (
            "external-secrets.io/v1 SecretStore",
            "spec: {provider: {aws: {auth: {secretRef: {accessKeyIDSecretRef: {}}}}}}",
        ),
        ("rbac.authorization.k8s.io/v1 ClusterRoleBinding", "roleRef: {kind: ClusterRole, name: view, apiGroup: ''}"),
        ("v1 ConfigMap", "data: {a: {{ .Values.a }}}"),
        ("v1 ConfigMap", "data: {a: 'ENC[AES256_GCM]', b: 1}\nsops: {mac: 'ENC[AES256_GCM]', version: 3.7.1}"),
    ],
)
def test_what_nobody_refuses_is_no_error(found: Lint, kind: str, rest: str) -> None:
    version, _, name = kind.partition(" ")
    text = f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: a}}\n{rest}\n"
    assert [each for each in found({"a.yaml": text}) if " error " in each] == []


@pytest.mark.parametrize("text", [SERVED, WEB.replace("name: web}", f"name: '${{NAME}}', {LOCAL}, labels: x}}", 1)])
def test_what_is_applied_or_left_out_as_it_is_is_no_error(found: Lint, text: str) -> None:
    assert [each for each in found({"a.yaml": text}) if " error " in each] == []


FILES = {path.partition(".")[0]: text for path, text in tiny.read_tree("checks/upstream").items()}
DEPLOYMENT, VOLUME, WORKFLOW = FILES["deployment"], FILES["volume"], FILES["workflow"]
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: NAME}\nspec: {selector: {app: APP}, ports: [{port: 80}]}\n"
BUILT = "resources: [storage.yaml]\nimages: [{name: loader, newTag: '1'}]\n"
LOADER = DEPLOYMENT.replace("NAME", "a").replace("APP", "a")
GENERATOR = "configMapGenerator: [{name: made, literals: "
KEYED = WEB.replace("web, image", "web, env: [{name: A, valueFrom: {configMapKeyRef: {name: made, key: A}}}], image")


def named(text: str, name: str, app: str = "a") -> str:
    return text.replace("NAME", name).replace("APP", app)


CASES = [
    # a file of a folder and its copy are no two workloads whose pods a Service mixes
    ({"a.yaml": named(DEPLOYMENT, "a"), "b.yaml": named(DEPLOYMENT, "a")}, "selector-overlap", False),
    # folders without a kustomization are applied together by whoever means them to be
    ({"service.yaml": named(SERVICE, "a"), "pods/a.yaml": named(DEPLOYMENT, "a")}, "selects-nothing", False),
    # a key that may be missing
    ({"a.yaml": VOLUME.replace("OPTIONAL ", "optional: true,")}, "no-such-key", False),
    # and one that a generator says
    *(
        ({"a.yaml": KEYED, KUSTOMIZATION: f"resources: [a.yaml]\n{GENERATOR}[{key}=1]}}]\n"}, "no-such-key", key == "B")
        for key in "AB"
    ),
    # what a workflow deletes in the end, it can create again
    ({"a.yaml": WORKFLOW.replace("ACTION", "delete")}, "created-once", False),
    ({"a.yaml": WORKFLOW.replace("ACTION", "get")}, "created-once", True),
    # images that stand where only a file of `configurations` says
    (
        {"storage.yaml": LOADER, KUSTOMIZATION: BUILT + "configurations: [where.yaml]\n"},
        "entry-without-target",
        False,
    ),
    # an operator that nobody knows gives its pods an account; rights of the account "default" need its token
    ({"a.yaml": named(DEPLOYMENT, "a").replace("apps/v1", "example.com/v1")}, "token-mounted", False),
    ({"a.yaml": named(DEPLOYMENT, "a") + FILES["binding"].replace("ACCOUNT", "default")}, "token-mounted", False),
    # only kpt writes its Kptfile
    ({"Kptfile": FILES["kptfile"], "a.yaml": LOADER}, "rewritten", False),
]


@pytest.mark.parametrize(("files", "rule", "is_found"), CASES)
def test_says_nothing_false_of_what_is_right_elsewhere(
    found: Lint, files: dict[str, str], rule: str, is_found: bool
) -> None:
    assert any(f" {rule}:" in each for each in found(files, but=())) == is_found


@pytest.mark.parametrize(
    ("version", "kind", "is_found"),
    [
        ("argoproj.io/v1alpha1", "ClusterWorkflowTemplate", False),
        ("argoproj.io/v1alpha1", "Workflwo", True),
        ("gateway.networking.k8s.io/v1", "GRPCRoute", False),
        ("gateway.networking.k8s.io/v1", "HTPRoute", True),
        ("monitoring.coreos.com/v1", "ServiceMonitor", False),
        ("monitoring.coreos.com/v1", "PodMonitr", True),
        ("trainer.kubeflow.org/v1alpha1", "Trainer", False),
        ("config/v1", "MyKind", False),
        ("apps/v1", "MyKind", True),
        ("extensions/v1beta1", "Deployment", True),
    ],
)
def test_a_kind_of_a_group_that_nobody_here_knows_may_be_served(
    found: Lint, version: str, kind: str, is_found: bool
) -> None:
    text = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\n"
    assert any(" unserved-kind:" in each for each in found({"a.yaml": text})) == is_found
