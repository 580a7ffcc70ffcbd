"""YAML as people write it: bytes with positions, never a value that is dumped again.

A *document* is parsed to nodes that know where they stand; an *edit* replaces one span; the *layout* writes new files
from the lexemes of old ones; a *tree* is a folder's files, read once and written back whole or not at all.
Nothing here knows what a setter is.
"""
