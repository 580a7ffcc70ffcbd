"""The Krmfile, and the package, that most tests of setters need: one setter, and nothing else."""

from pathlib import Path

from packyard.using.setting import set_values


def one_setter(name: str = "V", value: str = "old", *keywords: str, is_set: bool = False) -> str:
    """Return a Krmfile that defines a setter; ``value`` is as it stands there, ``keywords`` are lines of OpenAPI."""
    lines = "".join(f"      {line}\n" for line in keywords)
    mark = "          isSet: true\n" if is_set else ""
    return f"""\
openAPI:
  definitions:
    io.k8s.cli.setters.{name}:
{lines}      x-k8s-cli:
        setter:
          name: {name}
          value: {value}
{mark}"""


#: A field that the setter reaches, in the files of a package that `make_package` makes.
FIELD = 'x: a # {"$openapi":"V"}\n'
FILES = ("one.yaml", "two.yaml", "sub/three.yaml")


def make_package(root: Path) -> Path:
    """Make a package in which the setter has the value a, in three files."""
    (root / "sub").mkdir(parents=True)
    (root / "Krmfile").write_text(one_setter(value="a", is_set=True), "utf-8")
    for name in FILES:
        (root / name).write_text(FIELD, "utf-8")
    return root


def field_values(root: Path) -> set[str]:
    """Return the values that the field has in the files of such a package."""
    return {(root / name).read_text("utf-8").split()[1] for name in FILES}


def set_to(root: Path, value: str) -> None:
    """Set the setter of such a package."""
    set_values(root, {"V": [value]})


def edit(file: Path) -> None:
    """Edit a file as somebody does by hand."""
    with file.open("a", encoding="utf-8") as stream:
        stream.write("mine: by hand\n")
