"""A use case as it is rendered for a cluster: its objects, and what its directory says for the record of a run."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packyard.core.bundle import delivery
from packyard.core.bundle import manifest as manifests
from packyard.core.bundle.prerequisite import Prerequisite
from packyard.core.digest import Digest
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import plain_secrets
from packyard.core.yaml.node import Source
from packyard.running.runs import run as runs
from packyard.running.runs.record import RunRecord
from packyard.running.runs.run import Object
from packyard.using.kustomize.objects import parse
from packyard.using.render import every
from packyard.using.render.render import Inputs, render


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """Objects as they are rendered, of one use case.

    ``draft`` is its record as far as its directory says it: the values that somebody set, without secrets, and the
    digest of packyard.json, which names every file; a directory of no package has an empty ``package``. ``setters`` are
    the names of all. ``otherwise`` names a run whose objects do not. ``required`` is what authors say that it needs.
    """

    objects: Sequence[Object]
    draft: RunRecord
    setters: frozenset[str] = frozenset()
    otherwise: str = ""
    required: Sequence[Prerequisite] = ()

    @property
    def run(self) -> str:
        """The name of the run that the objects are."""
        return runs.name_of(self.objects, self.otherwise)

    @classmethod
    def of(
        cls,
        tree: Tree,
        values: Mapping[str, Sequence[str]],
        *,
        path: str,
        command: str = "",
        enabling: Sequence[str] = (),
        is_fetched: bool = False,
    ) -> "Rendered":
        """Render a use case, as if ``values`` were set, and read what its directory says; nothing there changes.

        ``command`` is what the user typed before the values, for the hints of errors; a use case that ``is_fetched`` is
        there for that alone. Raises `InputError` as `render` does, among others for what is required and not set.
        """
        directory = tree.root_dir
        with every.with_values(tree, values, command, enabling=enabling) as source:
            inputs = Inputs.read(source)
            text = render(source, path=path, inputs=inputs, command=command if is_fetched else "").decode()
        options = tuple(option.name for option in inputs.options)
        values_set = {
            setter.name: setter.shown
            for setter in inputs.setters
            if setter.is_set and not plain_secrets.is_withheld(setter.name) and not plain_secrets.find(setter.shown)
        }
        draft = RunRecord(run="", number=1, when="", values=values_set, options=options)
        required: Sequence[Prerequisite] = ()
        above = directory.resolve().parent.name
        if package := delivery.package_of(directory):
            root, manifest = package
            use_case = os.path.relpath(os.path.realpath(directory), root)
            digest = Digest.of(Path(root, manifests.FILE).read_bytes())
            draft = replace(draft, package=manifest.name, version=manifest.version, digest=digest, use_case=use_case)
            required, above = manifest.required_of(use_case, options), manifest.name
        return cls(
            objects=parse(Source(f"{directory} (rendered)", text)),
            draft=draft,
            setters=frozenset(setter.name for setter in inputs.setters),
            required=required,
            otherwise=f"{above}-{directory.resolve().name}",
        )
