"""Directories of results and downloads, as variables and options of a command name them, and the volumes below them."""

from __future__ import annotations

import pytest

from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.lint import lint

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: data}}
  - {name: scratch, emptyDir: {}}
  containers:
  - name: a
    image: a/b:1
    command: COMMAND
    env: [ENV]
    volumeMounts: [{name: data, mountPath: /data}, {name: scratch, mountPath: /scratch}]
"""
STORED, CACHED = "results-not-stored", "cache-not-stored"


@pytest.mark.parametrize(
    ("command", "env", "rule"),
    [
        ("[train]", "{name: OUTPUT_DIR, value: /data/a}", ""),
        ("[train]", "{name: OUTPUT_DIR, value: /other}", STORED),
        ("[train]", "{name: OUTPUT_DIR, value: /scratch/a}", STORED),
        ("[train, --upload=s3://bucket]", "{name: OUTPUT_DIR, value: /scratch/a}", ""),
        ("[train, --output_dir=/other]", "", STORED),
        ("[train, --save-dir, /other]", "", STORED),
        ("[serve, --checkpoint_path, /other]", "", ""),  # which it reads
        ("[sh, -ec, train --output-dir /other]", "", STORED),
        ("[train, --output_dir=/data, --results-dir, /data/a]", "", ""),
        ("[train, --output_dir]", "", ""),
        ("[train]", "{name: HF_HOME, value: /other}", CACHED),
        ("[train]", "{name: HF_HOME, value: /tmp/hf}", ""),
        ("[train]", "{name: HF_HOME, value: /scratch/hf}", ""),
        ("[train]", "{name: HF_HOME, value: /other}, {name: HF_HUB_OFFLINE, value: '1'}", ""),
        ("[vllm, serve, --download-dir=/other]", "", CACHED),
        ("[vllm, serve, --download-dir=/data]", "", ""),
    ],
)
def test_finds_what_is_lost_with_the_container(command: str, env: str, rule: str) -> None:
    def rules(pod: str) -> list[str]:
        text = pod.replace("COMMAND", command).replace("ENV", env)
        found = lint(PackageFiles(b"kind: Krmfile\n", {"a.yaml": text.encode()}))
        return [each.rule for each in found if each.rule in (STORED, CACHED)]

    assert rules(POD) == ([rule] if rule else [])
    sidecar = "  - {name: b, image: 'a/b:1', volumeMounts: [{name: scratch, mountPath: /scratch}]}\n"
    shared = rules(POD + sidecar)
    assert shared == ([] if "/scratch" in env else rules(POD))  # which may upload it
