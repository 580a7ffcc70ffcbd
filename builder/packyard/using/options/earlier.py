"""What a use case has in common with those that run before it, and where its value is another one now.

staging    MODEL_PATH /models/a     copies the model there
one-node   MODEL_PATH /models/b     and it is looked for here
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote

from packyard.core.bundle import address, delivery
from packyard.core.errors import IntegrityError
from packyard.core.files import paths
from packyard.core.files.tree import Tree
from packyard.using.setters.packages import own_setters


def differing(tree: Tree, values: Mapping[str, Sequence[str]], known: delivery.Packages | None = None) -> Iterator[str]:
    """Say which values of a use case differ from one that runs before it, and how to set all; ``values`` are set here.

    What was set counts before what was shipped, and what is set here before that. Where a use case was shipped with
    another value, all are not to be set: the command names one of the two.
    One that lacks a required value is not used, and a value that was shipped as another one is meant to be. What is
    still to be set here, others say.
    """
    directory = tree.root_dir
    try:
        root, manifest = delivery.package_of(directory, known) or ("", None)
    except IntegrityError:  # which others say
        return
    path = os.path.relpath(os.path.realpath(directory), root)
    if manifest is None or path not in manifest.use_cases:
        return
    use_case, setters, top = manifest.use_cases[path], own_setters(tree), paths.seen(directory, root)
    for earlier in use_case.after:
        theirs = own_setters(Tree(Path(top, earlier)))
        is_used = not any(setter.must_be_set for setter in theirs.values())
        for name in (name for name in setters if is_used and name in theirs):
            own = setters[name].with_value(values[name])._replace(is_set=True) if name in values else setters[name]
            shipped = {at: case.setters.get(name) for at, case in manifest.use_cases.items()}
            if own.shown != theirs[name].shown and not own.must_be_set and shipped[path] == shipped.get(earlier):
                here, there = (setter.shown or "empty" for setter in (own, theirs[name]))
                place, is_for_all = address.of(Path(top, earlier)), len({*shipped.values()} - {None}) < 2
                new, lacking = max((own, place), (theirs[name], address.of(directory)), key=lambda way: way[0].is_set)
                words = " ".join(quote(f"{name}={text}") for text in new.texts or ("",))
                to, done = (f"{quote(top)} -R", "sets all") if is_for_all else (quote(lacking), "sets both")
                yield f"{name} is {here}, and {there} in {place}, which runs before: packyard set {to} {words} {done}"
