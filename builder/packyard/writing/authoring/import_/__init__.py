"""Importing: a source package from packages that exist, composed to equal objects with equal setters.

    read: use cases -> Variant          objects with normal comments, the words that they reach, and what was lost
    structure: use cases -> Copy        the bases and components of a tree of kustomizations, as they are
    tree: variants -> Part              a base of what is common, bases and storages of what each adds
    split: parts -> Split               entries of package.yaml, and words where they belong
    write: parts -> files

Nothing is guessed: what cannot be kept as it was is a `Note`, which an author works through.
"""
