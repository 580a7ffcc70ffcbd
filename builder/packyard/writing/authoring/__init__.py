"""Authoring: what the verbs of an author write: setters and substitutions created or deleted, annotations added.

Unlike setting values, which `setters` does, these change what a package defines.
"""
