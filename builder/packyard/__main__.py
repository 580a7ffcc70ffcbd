"""``python -m packyard``: the command line."""

from __future__ import annotations

import sys

from packyard.cli.main import main

sys.exit(main())
