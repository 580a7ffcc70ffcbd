"""Work that is done once and by many: tasks on processes or on an engine that exists, results kept for the next time.

A *result* is the bytes that a task made; its *reads* are what it asked of its sources; the *cache* keeps the one for as
long as the other hold. Nothing here knows what a task does.
"""
