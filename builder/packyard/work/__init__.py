"""Tasks that run in parallel, on processes or on dask, and results that are cached.

A *result* is the bytes that a task made; its *reads* are what it asked of its sources; the *cache* keeps the one for as
long as the other hold. Nothing here knows what a task does.
"""
