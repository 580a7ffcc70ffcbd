"""Small libraries, the workspace ``tiny`` built on them, and what its package is composed to."""

from pathlib import Path

import tiny
from packyard.writing.source import package
from packyard.writing.source import workspace as workspaces
from packyard.writing.source.compose import ComposedPackage, compose

HEAD = "apiVersion: packyard/v1\nkind: Library\nname: parts\nlicense: LICENSE\n"
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: run}\ndata:\n"
KRMFILE = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"


def define(name: str, value: str, *keywords: str, section: str = "", required: bool = False) -> str:
    """Return the definition of a setter, with keywords, below the comment of its section."""
    lines = [*([section] if section else []), f"io.k8s.cli.setters.{name}:", *(f"  {keyword}" for keyword in keywords)]
    asked = ", required: true" if required else ""
    lines.append(f'  x-k8s-cli: {{setter: {{name: {name}, value: "{value}"{asked}}}}}')
    return "".join(f"    {line}\n" for line in lines)


def write(folder: Path, **values: str) -> Path:
    """Write a library with the base ``below``, whose ConfigMap has these values bound to setters of their names."""
    tiny.write(folder / "packyard.yaml", HEAD.replace("parts", folder.name))
    tiny.write(folder / "LICENSE", "free\n")
    tiny.write(folder / "Krmfile", KRMFILE + "".join(define(name, value) for name, value in values.items()))
    data = "".join(f'  {name}: "{value}" # {{"$openapi":"{name}"}}\n' for name, value in values.items())
    tiny.write(folder / "bases/below/cm.yaml", CONFIG_MAP + data)
    tiny.write(folder / "bases/below/kustomization.yaml", f"{KUSTOMIZATION}resources: [cm.yaml]\n")
    return folder


def workspace(root: Path, *entries: str) -> Path:
    """Write a workspace whose package ``p`` is made of the base ``below`` of a library."""
    tiny.workspace(root)
    name(root, *entries)
    tiny.replace(root / "packages/p/package.yaml", "base: one", "base: below")
    return root


def name(root: Path, *entries: str) -> None:
    """Let a workspace name these libraries alone."""
    file = root / "packyard.yaml"
    head = file.read_text().partition("libraries:")[0]
    file.write_text(f"{head}{'libraries:' if entries else ''}\n" + "".join(f"- {entry}\n" for entry in entries))


def composed(root: Path, name: str = "p") -> ComposedPackage:
    """Compose a package of a workspace."""
    here = workspaces.read(root)
    return compose(here, package.read(here, name))
