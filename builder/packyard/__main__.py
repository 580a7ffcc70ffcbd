"""``python -m packyard``: the command line."""

import sys

from packyard.cli.main import main

sys.exit(main())
