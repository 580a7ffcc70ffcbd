"""Verbs of authors."""
