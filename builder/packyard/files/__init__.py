"""Files on disk: read only where they are regular, named only below a root.

Nothing here knows YAML. What comes from elsewhere, a name or a link say, is hostile until it was looked at here.
"""
