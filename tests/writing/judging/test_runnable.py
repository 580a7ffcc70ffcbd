"""A block of a README that could do something else than to try the package is not run."""

from __future__ import annotations

import pytest

from packyard.writing.judging.runnable import DEPTH, refused, script

PLAIN = [
    "cd p/uses\nkustomize cfg set . NFS_PATH /exports/ml -R\nkustomize build one | kubectl apply -n ml -f -\n",
    "kustomize edit add component ../../options/queue && kustomize cfg set ../../options QUEUE_NAME team",
    "packyard set one SIZE=4 DIR=/data \\\n  USER=me  # both\n",
    "# don't $(mind)\necho 'a > b' \"c; d\" >out.txt; cat <out.txt",
    "kubectl logs -f job/x 2>/dev/null",
]
HOSTILE = [
    "rm -rf x",
    "tail -nf README.md",
    "tail --follow README.md",
    "echo $(id)",
    "echo `id`",
    "echo a & rm x",
    "echo a && (rm x)",
    "echo a#b; rm x",
    "echo a >/etc/passwd",
    "echo a >~/.bashrc",
    "cp -t/root a",
    "cp --target-directory=/root a",
    "cd " + "../" * (DEPTH + 1),
    "cat .*/a",
    ">a rm b",
    "echo a 2>&1",
    "cat <<a\nb\na",
    "X=1 rm b",
    "export PATH=.",
    "kubectl get x >/etc/passwd",
    "kustomize build --enable-exec --enable-alpha-plugins .",
    "kustomize fn run .",
    "kustomize build https://example.com/x",
    "packyard render A --out /elsewhere/x",
    "packyard set /elsewhere/package A=1",
    "packyard get x",
    "echo 'a",
    "echo \0",
    "if true; then rm x; fi",
    "{ rm x; }",
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_commands_are_run(text: str) -> None:
    assert not refused(script(text), has_kustomize=True)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_could_reach_anything_else_is_not_run(text: str) -> None:
    assert refused(script(text), has_kustomize=True)


def test_other_verbs_of_kustomize_need_kustomize() -> None:
    assert refused("kustomize edit add component x", has_kustomize=False) == "kustomize edit"


def test_what_is_looked_at_is_what_is_run() -> None:
    assert script('echo "a\n# " ; rm x\n"') == 'echo "a\n"'
