"""Tasks that run in parallel, on processes or threads, what is cached, and programs that are bounded.

A *memo* remembers what one run has made. Nothing here knows what a task does.
"""
