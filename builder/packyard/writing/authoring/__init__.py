"""Authoring: what the verbs of an author write: setters and substitutions created or deleted, annotations added.

Unlike setting values, which `using.setters` does, these change what a package defines.
"""
