"""Checks: what is wrong with a package, whoever built it.

A *check* looks at one package directory and yields *findings*; it changes nothing and needs no cluster. A *finding* is
one fault: the rule that it breaks, where it stands, and what to do about it.
"""
