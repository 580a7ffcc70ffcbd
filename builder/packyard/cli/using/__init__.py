"""Verbs of a package: set, enable, render, upgrade, and the like."""
