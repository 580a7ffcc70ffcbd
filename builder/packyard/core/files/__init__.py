"""A folder's files: only regular ones are read, none outside the root is named, and several are replaced all or none.

A *tree* is a folder's files, read once. `lock` admits one writer at a time, `replace` writes several files as one
change, and its *journal* lets `recovery` finish the change after a crash. The *history* keeps what `undo` restores.
`atomic` writes one new file or folder. Which names a package may bring is in `filenames`, where links lead in `paths`.

Nothing here knows YAML. Names, links and journals that come from elsewhere are hostile until they are checked here.
"""
