"""The types of fields and merge keys of built-in kinds; what `packyard set` loads of this room."""

import subprocess
import sys
from pathlib import Path

from core.files.krmfiles import one_setter

SET = """
import sys
from packyard.cli.main import main
code = main(sys.argv[1:])
modules = {name: module for name, module in sorted(sys.modules.items()) if name.startswith("packyard.")}
print(*modules, *(f"dataclass:{name}" for name in modules if hasattr(modules[name], "dataclass")), file=sys.stderr)
sys.exit(code)
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: x}
spec:
  parallelism: 2 # {"$openapi":"WORKERS"}
"""


def test_set_loads_of_this_room_the_types_of_fields_and_the_names_of_kustomizations(tmp_path: Path) -> None:
    """A setter binds a field of any type, and the field's own type decides how the value is written."""
    (tmp_path / "Krmfile").write_text(one_setter("WORKERS", "2"))
    (tmp_path / "job.yaml").write_text(JOB)
    words = ["set", str(tmp_path), "WORKERS", "3"]
    done = subprocess.run([sys.executable, "-c", SET, *words], capture_output=True, text=True, check=True)
    loaded = [name for name in done.stderr.split() if name.startswith("packyard.core.kubernetes")]
    assert loaded == [f"packyard.core.kubernetes{name}" for name in ("", ".fieldtypes", ".kustomization")]
    assert not [name for name in done.stderr.split() if name.startswith("dataclass:")]  # they take long to make
    assert "parallelism: 3" in (tmp_path / "job.yaml").read_text()
