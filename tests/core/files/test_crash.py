"""After a failed write every file is whole, and the next command finishes the change; sets at once lose no edit."""

from pathlib import Path

import pytest

from core.files.krmfiles import field_values, make_package, one_setter
from faults import at_once, failures, leftovers
from packyard.core.errors import UnavailableError
from packyard.core.files import atomic
from packyard.using.setting import set_values


@pytest.mark.parametrize("many", [32, 1], ids=["few files", "many files"])
def test_a_disk_that_is_full_at_any_moment_leaves_old_files_or_a_change_that_the_next_command_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(atomic, "MANY", many)
    outcomes, refused = set(), set()

    def command(at: int) -> None:
        make_package(tmp_path / str(at))
        try:
            set_values(tmp_path / str(at), {"V": ["b"]})
        except UnavailableError:
            refused.add(at)

    for at in failures(monkeypatch, command):
        root = tmp_path / str(at)
        assert field_values(root) == ({"a"} if at in refused else {"b"}), at
        outcomes |= field_values(root)
        set_values(root, {"V": ["c"]})
        assert field_values(root) == {"c"}
        assert not leftovers(root)
    assert outcomes == {"a", "b"}


SETS = """
import sys
from pathlib import Path
from packyard.using.setting import set_values
for number in range(25):
    set_values(Path(sys.argv[1]), {sys.argv[2]: [f"v{number}"]})
"""


@pytest.mark.nightly
def test_sets_at_the_same_time_lose_no_edit(tmp_path: Path) -> None:
    names = [f"S{number}" for number in range(8)]
    root = tmp_path / "package"
    root.mkdir()
    entries = "".join(one_setter().split("definitions:\n")[1].replace("V", name) for name in names)
    (root / "Krmfile").write_text("openAPI:\n  definitions:\n" + entries, "utf-8")
    (root / "r.yaml").write_text("".join(f'{name}: a # {{"$openapi":"{name}"}}\n' for name in names), "utf-8")
    at_once(SETS, *((str(root), name) for name in names))
    text = (root / "r.yaml").read_text("utf-8")
    assert [line.split()[1] for line in text.splitlines()] == ["v24"] * 8
    assert (root / "Krmfile").read_text("utf-8").count("value: v24") == 8
