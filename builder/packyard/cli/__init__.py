"""The command line: words to library calls, results to stdout, messages to stderr.

The only room that prints, and that reads the clock, the environment and the working directory.
"""

import os

if os.name != "posix":
    raise SystemExit("packyard needs a POSIX system, such as Linux or macOS. On Windows, install and run it in WSL.")
