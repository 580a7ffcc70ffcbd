"""Options as the user of an untarred use case has them: folded into its own files, and taken out to the same bytes.

`change` has the verbs; all else here works on the texts of a `draft`. What authors write is `source.option`.
"""
