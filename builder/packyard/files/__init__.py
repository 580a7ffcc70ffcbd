"""Files on disk: read only where they are regular, named only below a root, replaced all together or not at all.

A *tree* is a folder's files, read once; `lock` lets one writer at them at a time; `replace` writes them, and leaves a
*journal* that `recovery` goes on from after a crash; the *history* keeps what was there before. Nothing here knows
YAML. What comes from elsewhere, a name, a link or a journal say, is hostile until it was looked at here.
"""
