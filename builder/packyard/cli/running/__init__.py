"""Verbs of a cluster."""
