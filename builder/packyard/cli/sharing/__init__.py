"""Verbs of channels."""
