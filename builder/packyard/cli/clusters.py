"""Whom verbs that meet a cluster speak to: kubectl's own flags, and the line that names context and namespace first."""

from __future__ import annotations

import argparse
import os

from packyard.cli import output
from packyard.cluster import kubectl
from packyard.cluster.kubectl import Kubectl


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare kubectl's flags."""
    parser.add_argument("-n", "--namespace", metavar="NAME", default="", help="as for kubectl")
    parser.add_argument("--context", metavar="NAME", default="", help="as for kubectl")
    parser.add_argument("--kubeconfig", metavar="FILE", default="", help="as for kubectl")


def find(arguments: argparse.Namespace) -> Kubectl:
    """Return kubectl for what the arguments and kubeconfig say, without a word."""
    given = {name: getattr(arguments, name) for name in ("namespace", "context", "kubeconfig")}
    return kubectl.find(os.environ.get("PATH", ""), **given)


def tell(found: Kubectl) -> None:
    """Say which context and namespace all that follows is about."""
    output.note(f"{found}")
