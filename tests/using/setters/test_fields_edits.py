"""Sets in YAML of every form: just the values that are set change, with their own comments, or the set is refused."""

import sys
from pathlib import Path
from types import FrameType

import pytest

from packyard.using.setting import set_values

HEADER = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"
A = '# {"$openapi":"A"}'
ONE = f"{HEADER}    io.k8s.cli.setters.A:\n      x-k8s-cli:\n        setter:\n          name: A\n          value: '1'\n"
LISTED = ONE.replace("      x-k8s", "      type: array\n      x-k8s").replace("value: '1'", "listValues: [a, b]")


def package(folder: Path, krmfile: str, text: str) -> None:
    (folder / "Krmfile").write_bytes(krmfile.encode())
    (folder / "r.yaml").write_bytes(text.encode())


@pytest.mark.parametrize("end", ["", "\n", "\nafter: 1\n", "\n---\nb: 1\n", "\n\n\nafter: 1\n", "\n# end\n"])
@pytest.mark.parametrize("block", ["|", ">", "|-", "|+", "|2"])
def test_a_list_that_ends_in_a_block_scalar_is_followed_by_a_line_of_its_own(
    tmp_path: Path, block: str, end: str
) -> None:
    package(tmp_path, LISTED, f"args: {A}\n- -c\n- {block}\n  script{end}")
    set_values(tmp_path, {"A": ["p", "q"]})
    assert (tmp_path / "r.yaml").read_text() == f'args: {A}\n- "p"\n- "q"{end}'


@pytest.mark.nightly
def test_many_fields_in_a_mapping_without_a_kind_take_work_in_proportion(tmp_path: Path) -> None:
    def lines_run(number: int) -> int:
        package(tmp_path, ONE, "".join(f"a{field}: 1 {A}\n" for field in range(number)))
        count = 0

        def trace(_frame: FrameType, event: str, _argument: object) -> object:
            nonlocal count
            count += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            set_values(tmp_path, {"A": ["2"]})
        finally:
            sys.settrace(before)
        assert (tmp_path / "r.yaml").read_text("utf-8").count(": 2 #") == number
        return count

    assert lines_run(1000) < 15 * lines_run(100)  # ten times is in proportion, a hundred times would be the square
