"""A use case made ready for a cluster: what it reads on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from packyard.core.yaml.node import Source
from packyard.running.runs.rendered import Rendered
from packyard.using.render.render import render
from packyard.using.setters.krmfile import Krmfile
from tiny import done
from using.options import optioned


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each Krmfile is parsed, by the folder that it is in."""
    counts: Counter[str] = Counter()
    parse = Krmfile.__init__

    def count(self: Krmfile, source: Source) -> None:
        counts[Path(source.name).resolve().parent.name] += 1
        parse(self, source)

    monkeypatch.setattr(Krmfile, "__init__", count)
    return counts


@pytest.mark.parametrize(
    "build", [render, lambda directory, path: Rendered.of(directory, {}, path=path)], ids=["render", "prepare"]
)
def test_reads_each_krmfile_once_whatever_options_are_enabled(
    tmp_path: Path, parsed: Counter[str], build: Callable[..., object]
) -> None:
    directory = optioned.package(tmp_path) / optioned.MULTI
    done("enable", directory, "queue", "spread")
    done("set", directory, "PVC_NAME=disk")
    parsed.clear()
    build(directory, path="")
    assert parsed == {"claim": 1, "options": 1}
