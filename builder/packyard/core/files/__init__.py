"""A folder's files: only regular ones are read, none outside the root is named, and several are replaced all or none.

A *tree* is a folder's files, read once. `exclusive` admits one writer at a time, `replace` writes several files as one
change, and its *step* in the log (`steps`) lets `undo` take it back, and the next command finish it after a crash.
`atomic` writes one new file or folder. Which names a package may bring is in `filenames`, where links lead in `paths`.

Nothing here knows YAML. Names, and links that come from elsewhere are hostile until they are checked here.
"""
