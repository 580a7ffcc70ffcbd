"""YAML as people write it: bytes with positions, never a value that is dumped again.

A *document* is parsed to nodes that know where they stand; an *edit* replaces one span; the *layout* writes new files
from the lexemes of old ones. Nothing here knows what a setter is.
"""
