"""Tasks that run in parallel, on processes, results that are cached, and programs that are bounded.

A *result* is the bytes that a task made; its *facts* are the answers that it got from its sources. A cached result is
good while its facts hold. A *memo* remembers what one run has made. Nothing here knows what a task does.
"""
