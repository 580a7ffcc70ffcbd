"""Importing: a source package from kustomizations, manifests or a package of kpt, which composes to equal objects.

    use_cases   the folders that become use cases, and their names
    upstream    each of them as parts: its files as they are, or where these do not compose, what kustomize builds
    part        a part: its files and its kustomization, as they are written
    bind        comments of all kinds become setter comments of ours, by edits in these files
    values      what a use case gives setters, where kustomize builds other texts in their fields
    difference  what no part can say, as patches between what parts compose and what kustomize builds
    conversion  the files of a workspace, composed once and compared with what was there

Nothing is guessed: what cannot be kept as it was is a `Note`, which an author works through.
"""
