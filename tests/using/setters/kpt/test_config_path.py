"""A pipeline's ``configPath``, which a stranger wrote: a YAML file of the package and nothing else."""

import pytest

from packyard.core.errors import InputError
from packyard.using.setters.kpt.kptpackage import KptPackage
from packyard.using.setters.packages import KPTFILE, PackageFiles

PIPELINE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: x}
pipeline:
  mutators:
  - image: apply-setters:v0.2
    configPath: CONFIG
"""
SETTERS = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: {app: foo}\n"
FILES = {"f.yaml": b"name: foo # kpt-set: ${app}\n", "setters.yaml": SETTERS, "sub/s.yaml": SETTERS}


@pytest.mark.parametrize(
    "config_path",
    [
        *("../setters.yaml", "sub/../setters.yaml", "sub/../../setters.yaml", "./../setters.yaml", "..", "."),
        *("/pkg/setters.yaml", "/etc/passwd", "//setters.yaml", "/dev/zero", "setters", "setters.json", "sub"),
        *('"a\\0b.yaml"', '"\\e[31m.yaml"', "a" * 5000, "~/setters.yaml", "${HOME}/setters.yaml"),
    ],
)
def test_a_config_path_that_is_no_yaml_file_of_the_package_is_refused(config_path: str) -> None:
    package = PackageFiles(PIPELINE.replace("CONFIG", config_path).encode(), FILES, name=KPTFILE)
    with pytest.raises(InputError, match=r"Kptfile:6:5: configPath .* is not a YAML file of the package") as refused:
        KptPackage(package)
    assert "\x1b" not in str(refused.value)
