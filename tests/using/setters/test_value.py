"""What definitions admit: every keyword beside the real program's answer, and the formats that are ours."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from commandline import done
from packyard.core.errors import InputError
from packyard.core.kubernetes.name_forms import SUBDOMAIN
from packyard.using.setters import formats
from packyard.using.setters.change import change_setters
from packyard.using.setters.packages import PackageFiles, read_krmfile
from packyard.using.setters.value import faults
from served import Cfg

KEYWORDS = [
    ("type: string\nmaxLength: 3", "abc", "abcd"),
    ("type: string\nminLength: 3", "abc", "ab"),
    ("type: string\npattern: ^a+$", "aa", "ab"),
    ("pattern: '^(/.*)?$'", "/x", "x"),
    ("type: string\nenum: [a, b]", "b", "c"),
    ("type: integer\nmaximum: 3", "3", "4"),
    ("type: integer\nmaximum: 3\nexclusiveMaximum: true", "2", "3"),
    ("type: integer\nminimum: 3", "3", "2"),
    ("type: integer\nminimum: 3\nexclusiveMinimum: true", "4", "3"),
    ("type: integer\nmultipleOf: 3", "6", "7"),
    ("type: integer\nnullable: true", "5", "x"),
    ("type: integer", "1e3", "1.5"),
    ("type: number", "1.5", "abc"),
    ("type: boolean", "true", "yes"),
    ("type: string\nformat: ipv4", "10.0.0.5", "10.0.0.500"),
    ("type: int", "3", "x"),
    ("type: string\nmaxLength: 1\npattern: ^a+$", "a", "bcd"),
    ("type: number\nmaximum: 1.5", "1.5", "1.6"),
    ("type: number\nminimum: 1e3", "1e3", "1.5"),
    ("type: number\nmaximum: 1000000000000000000000", "1e21", "1e30"),
    ("type: number\nmultipleOf: 0.1", "0.3", "0.35"),
    ("type: number\nenum: [0.5, 2]", "0.50", "1"),
    ("type: integer", "9223372036854775807", "99999999999999999999"),
    ("type: integer", "1e15", "1e16"),
    ("type: number", "9" * 300, "9" * 400),
    ("type: integer", "0x7f", "0x" + "f" * 20),
    ("pattern: '('", "1", "abc"),
    ("pattern: '(?=a)'", "1", "abc"),
    ("pattern: '(?<=a)b'", "1", "abc"),
    (r"pattern: '\C'", "1", "abc"),
    (r"pattern: '^[[:alpha:]]+$'", "abc", "a_c"),
    (r"pattern: '^\d+$'", "1", "\u0663"),
    (r"pattern: '^\pL+$'", "a\u00e4", "a-b"),
]


def make(root: Path, keywords: str) -> Path:
    root.mkdir()
    lines = "".join(f"      {line}\n" for line in keywords.splitlines())
    (root / "Krmfile").write_text(
        f"openAPI:\n  definitions:\n    io.k8s.cli.setters.V:\n{lines}"
        '      x-k8s-cli:\n        setter:\n          name: V\n          value: "0"\n',
        "utf-8",
    )
    (root / "r.yaml").write_text('x: 0 # {"$openapi":"V"}\n', "utf-8")
    return root


@pytest.mark.parametrize(("keywords", "good", "bad"), KEYWORDS)
def test_a_keyword_admits_and_refuses_what_the_real_program_does_in_the_same_words(
    cfg3: Cfg, tmp_path: Path, keywords: str, good: str, bad: str
) -> None:
    theirs, ours = make(tmp_path / "theirs", keywords), make(tmp_path / "ours", keywords)

    def real_set(value: str) -> subprocess.CompletedProcess[str]:
        return cfg3("set", ".", "V", value, cwd=theirs)

    refused = real_set(bad)
    assert refused.returncode == 1
    with pytest.raises(InputError, match="V takes "):
        change_setters(ours, {"V": [bad]})
    said = [line for line in refused.stderr.splitlines() if line.startswith("V in body")]
    assert said
    setter = read_krmfile(PackageFiles((ours / "Krmfile").read_bytes(), {})).definitions.setters["V"]
    assert faults(setter, [bad]) == said
    assert real_set(good).returncode == 0
    done("cfg", "set", ours, "V", good)


def test_all_faults_are_told_at_once_each_by_its_definition(tmp_path: Path) -> None:
    package = make(tmp_path / "package", "type: string\nmaxLength: 1\npattern: ^a+$")
    with pytest.raises(InputError) as error:
        change_setters(package, {"V": ["bcd"], "VV": ["x"]})
    takes = "V takes a text of at most 1 character that has the form that its definition asks for, not 'bcd'"
    assert [str(problem) for problem in error.value.problems] == [
        f"{package}/Krmfile:3: {takes} (packyard explain {package} V shows its definition)",
        f"{package}/Krmfile: setter 'VV' is not found (did you mean 'V'?)",
    ]


FORMATS = {
    "dns-label": (["a", "a-b", "0a", "a" * 63], ["A", "-a", "a-", "a.b", "a" * 64]),
    "dns-subdomain": (["a.b", "a", "a-b.c-d"], ["a..b", ".a", "A.b", "a." * 126 + "aa"]),
    "hostname": (["Node-1.example.com"], ["a_b", "-a"]),
    "quantity": (["1", "500m", "1.5Gi", "1e3", "+2k", ".5"], ["1GiB", "1 Gi", "Gi", "1.5.2", "m"]),
    "ip": (["10.0.0.5", "::1"], ["10.0.0", "10.0.0.256", "x"]),
    "ipv4": (["10.0.0.5"], ["::1"]),
    "ipv6": (["fe80::1"], ["10.0.0.5"]),
    "absolute-path": (["/", "/a b"], ["a", "./a"]),
    "port": (["1", "65535"], ["0", "65536", "http", "-1"]),
    "uid": (["0", "1000"], ["-1", "2147483648", "root"]),
    "image": (
        ["nginx", "docker.io/intel/x:1.7", "r:5000/a/b@sha256:" + "0" * 64, "a_b/c__d:T"],
        ["Nginx", "a:b:c", "a@sha256:0", "a b", ":1", "a:" + "t" * 129],
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_admits_what_kubernetes_does(name: str) -> None:
    good, bad = FORMATS[name]
    assert [text for text in good if not formats.admits(name, text)] == []
    assert [text for text in bad if formats.admits(name, text)] == []


@pytest.mark.parametrize(
    ("text", "fits"), [("a" * 64 + ".b", True), ("a." * 126 + "a", True), ("a" * 253, True), ("a" * 254, False)]
)
def test_a_subdomain_is_limited_as_a_whole_and_its_labels_are_not(text: str, fits: bool) -> None:
    assert formats.admits("dns-subdomain", text) is fits
    assert (bool(SUBDOMAIN.pattern.match(text)) and len(text) <= SUBDOMAIN.most) is fits


def test_every_known_format_has_its_test_and_an_unknown_one_admits_everything() -> None:
    assert set(FORMATS) == set(formats.FORMATS)
    assert formats.admits("nothing-known", "x")
