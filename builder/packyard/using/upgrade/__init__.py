"""Two versions of a package side by side: what differs between them.

It knows packages as files in memory, whoever made them: sources composed a moment ago, a bundle, an untarred directory.
"""
