"""A sound package with one mistake, as mutations make them, and with a change that is none."""

from functools import cache

import pytest

import tiny
from packyard.core.kubernetes import schemas
from packyard.using.setters.packages import PackageFiles
from writing.checks.linting import lint

FILES = tiny.read_tree("checks/mistakes")
KRMFILE = FILES.pop("Krmfile")
COMMENT = ' # {"$openapi":"SERVER"}'
LIMITS = "{cpu: 1, memory: 1Gi}"
PROBE = "{tcpSocket: {port: http}, periodSeconds: 5}"
SELECTED = "{app.kubernetes.io/instance: *run}"


@cache
def found(krmfile: str = KRMFILE, **changed: str) -> dict[str, str]:
    """Return the severity of each rule that a package with other files breaks."""
    files = {path: changed.get(path.partition(".")[0], text).encode() for path, text in FILES.items()}
    found = lint(PackageFiles(krmfile.encode(), files), shipped=True, judges=[schemas.kubernetes("1.34")])
    return {each.rule: each.severity for each in found}


CASES = [
    # commands
    ("deployment", "[/scripts/serve.sh]", "[sh, /scripts/serve.sh]", ""),
    ("deployment", "[/scripts/serve.sh]", "[sh, /scripts/sevre.sh]", "no-such-key"),
    # ports and probes
    ("deployment", PROBE, '{tcpSocket: {port: "8443"}}', "port-as-text"),
    ("deployment", PROBE, "{exec: {command: [ask]}}", ""),
    ("others", "targetPort: http", 'targetPort: "8443"', "port-as-text"),
    ("others", "targetPort: http", "targetPort: htp", "no-such-port"),
    ("others", "targetPort: http", "targetPort: 1234", "no-such-port"),
    # amounts
    ("deployment", LIMITS, "{cpu: 1, memory: 1Gi, example.com/card: 1, hugepages-2Mi: 2Mi}", ""),
    ("deployment", LIMITS, "{memory: 1Gi, nvidia.com/gpus: 1}", "no-such-resource"),
    ("deployment", LIMITS, "{memory: 1Gi, nvidia.com/gpu: 500m}", "request-above-limit"),
    ("deployment", LIMITS, "{memory: 1Gi, nvidia.com/gpu: 1, nvidia.com/mig-1g.5gb: 1}", ""),
    ("deployment", LIMITS, "{memory: 1Gi}", ""),
    ("others", "completions: 2", "completions: 3", ""),
    # volumes
    ("others", COMMENT, "", "empty-field"),
    ("others", "volumeName: *run", "volumeName: train-network", "reference-left-behind"),
    ("others", "volumeName: *run", "volumeName: disk", "fixed-requirement"),
    # labels and selectors
    ("deployment", f"selector: {{matchLabels: {SELECTED}}}", "selector: {}", "selects-nothing"),
    ("deployment", f"selector: {{matchLabels: {SELECTED}}}", "selector: {matchLabels: {}}", "selects-nothing"),
    ("others", f"podSelector: {{matchLabels: {SELECTED}}}", "podSelector: {}", ""),
    ("others", f"podSelector: {{matchLabels: {SELECTED}}}", "podSelector: {matchLabels: {a: b}}", "selects-nothing"),
    ("others", f"labels: {SELECTED}", "labels: {app.kubernetes.io/instance: run}", "reference-left-behind"),
    ("others", "  ports: [{port: 80, targetPort: http}]\n", "", "missing-field"),
    ("others", "  ports: [{port: 80, targetPort: http}]\n", "  clusterIP: None\n", ""),
    (
        "deployment",
        "      containers:",
        "      topologySpreadConstraints: [{topologyKey: a, labelSelector: {matchLabels: {a: b}}}]\n      containers:",
        "selects-nothing",
    ),
    # words and setters
    ("deployment", "emptyDir: {}", "emptyDir: {medium: Memroy}", "wrong-value"),
    ("deployment", "emptyDir: {}", "emptyDir: {medium: Memory}", ""),
    ("others", "[Ingress]", "[Ingres]", "wrong-value"),
    ("others", "[Ingress]", "[Ingress, Egress]", ""),
    ("deployment", "os: linux", "os: linus", "wrong-value"),
    ("deployment", "{readOnly", "{seccompProfile: {type: RuntimeDefaults}, readOnly", "wrong-value"),
    ("deployment", "{readOnly", "{seccompProfile: {type: RuntimeDefault}, readOnly", ""),
    ("deployment", '8443 # {"$openapi":"PORT"}', "8443", "forgotten-field"),
    ("others", "serve.sh: exec serve", "serve.sh: train-network", "forgotten-field"),
    ("deployment", "- name: main\n", "- name: train-network\n", ""),
]


@pytest.mark.parametrize(("file", "old", "new", "rule"), CASES)
def test_finds_one_mistake_and_nothing_in_its_right_neighbor(file: str, old: str, new: str, rule: str) -> None:
    text = FILES[f"{file}.yaml"]
    assert old in text
    more = found(**{file: text.replace(old, new, 1)}).keys() - found().keys()
    assert rule in more if rule else not more


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("kind: Krmfile\n", "", "no-krmfile"),
        ("apiVersion: config.k8s.io/v1alpha1\n", "", "no-krmfile"),
        (", required: true", "", "empty-field"),
        ("type: integer\n", "type: integer\n      required: true\n", "wrong-type"),
        ("Port of the server.", "8443", "wrong-type"),
    ],
)
def test_finds_a_mistake_of_a_krmfile(old: str, new: str, rule: str) -> None:
    assert old in KRMFILE
    assert rule in found(KRMFILE.replace(old, new)).keys() - found().keys()


def test_a_sound_package_breaks_no_rule_with_an_error() -> None:
    assert [rule for rule, severity in found().items() if severity == "error"] == []
