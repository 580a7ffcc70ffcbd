"""Options: Components that a user adds to a use case of an untarred package, a line of its kustomization each.

They lie once in a package, in a folder `options/` above its use cases, with one Krmfile for all. This room knows the
line, the folder and who has which option; whether an option applies, a build in memory says.
"""
