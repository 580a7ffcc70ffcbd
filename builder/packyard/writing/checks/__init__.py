"""Checks: what is wrong with a package, whoever built it.

A *check* reads one package directory and yields *findings*; it changes nothing and needs no cluster. A *finding* is
one fault: the rule that is broken, its place, and how to fix it. Facts about Kubernetes are in `packyard.kubernetes`.
"""
