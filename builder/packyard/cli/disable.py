"""Take options that `packyard enable` folded in out of the use case in DIR again, to the same bytes.

Values that were set meanwhile stay set. Refused where what it put there was changed by hand.
"""

from __future__ import annotations

import argparse

from packyard.cli import enable
from packyard.source.enabling.change import disable

add_arguments = enable.add_arguments


def run(arguments: argparse.Namespace) -> int:
    """Disable them, and name the files."""
    return enable.change(arguments, disable, "disabled")
