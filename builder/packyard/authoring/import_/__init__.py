"""Importing: a source package from packages that exist, composed to equal objects with equal setters.

    read: use cases -> Variant          objects with normal comments, the words that they reach, and what was lost
    share: variants -> what is common   and what each adds
    split: variants -> Part             bases, overlays, package.yaml
    write: parts -> files

Nothing is guessed: what cannot be kept as it was is a `Note`, which an author works through.
"""
