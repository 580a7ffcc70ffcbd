"""What `packyard set` changed, for programs."""

from packyard.cli.rows import Rows

ROWS = Rows(
    "package",
    "package, counts=plan.counts, fields=plan.changes (file, line, column, path, setter=name, old, new, aliases), "
    "enabled",
)
