"""Parse command lines as `vllm serve` does, with the vLLM that Python finds: a list of lists of words in JSON on stdin.

Prints the names of all arguments, and ends with what the parser says of the first line that it refuses.
"""

import argparse
import json
import sys

from vllm.entrypoints.cli.serve import ServeSubcommand
from vllm.utils.argparse_utils import FlexibleArgumentParser

parser = ServeSubcommand().subparser_init(FlexibleArgumentParser().add_subparsers(dest="subparser"))
for words in json.load(sys.stdin):
    assert words[:2] == ["vllm", "serve"], words
    parser.parse_args(words[2:])
actions: list[argparse.Action] = parser._actions
print(json.dumps(sorted({name for action in actions for name in action.option_strings if name.startswith("--")})))
