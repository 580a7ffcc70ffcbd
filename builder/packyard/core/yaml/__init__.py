"""YAML as text with positions, edited in place and never dumped again. Nothing here knows what a setter is.

Reading: `document` parses a text to nodes (`node`) that know where they stand, `aliases` follows aliases, `values` and
`strict` turn nodes into values. Changing: `splice` adds, replaces and removes entries, `items` the items of lists; what
they write is a `tree`, what they return are edits (`edit`), which `proof` judges before a file gets them. Making:
`make` copies and makes nodes, `layout` writes new files.
"""
