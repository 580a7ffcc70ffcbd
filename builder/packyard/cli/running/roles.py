"""Print the Role with which a user may deploy, watch, read, enter and remove runs of packages, and its RoleBinding.

packyard roles mnist-fp32-training-k8s --user ann | kubectl apply -n ml -f -
packyard roles --group ml-team --cluster  for the whole catalogue, and what
                                          doctor reads of the cluster

It follows from the kinds that the packages are made of. Nothing here asks a cluster.
"""

from __future__ import annotations

import argparse
import os

from packyard.cli import declare, output
from packyard.cli.rows import Rows
from packyard.cli.running import folders
from packyard.running import doctor
from packyard.running.doctor import rights as held
from packyard.running.runs import roles
from packyard.running.runs.roles import Right
from packyard.using.kustomize import manifest

ROWS = Rows("Kubernetes object", "", forms=("yaml", "json"))
_NAME = "packyard"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    folders.add_arguments(parser)
    declare.value(parser, "-n --namespace NAME", "write it into the objects", default="")
    declare.value(parser, "--user NAME", "who gets the role; again for more", action="append", default=[])
    declare.value(parser, "--group NAME", "likewise, for all of a group", action="append", default=[])
    declare.value(parser, "--name NAME", "what the objects are called", default=_NAME)
    declare.switch(parser, "--cluster", "add a ClusterRole with which doctor sees everything")


def run(arguments: argparse.Namespace) -> int:
    """Print roles, each with its binding where somebody is named."""
    rights, everywhere, beyond = set[Right](), set[Right](), dict[str, list[str]]()
    for word, use_case, objects, required in folders.use_cases(arguments.packages, arguments.channel):
        needed, others = roles.needed(objects)
        inside, outside = held.to_read(doctor.questions(objects, doctor.every(required)))
        rights |= needed | inside
        everywhere |= outside
        for each in others:
            beyond.setdefault(each, []).append(os.path.normpath(f"{word}/{use_case}"))
    for each, use_cases in beyond.items():
        output.note(f"left to administrators: {each}, of {', '.join(use_cases)}")
    manifests = [roles.role(rights, arguments.name, arguments.namespace)]
    if arguments.cluster and everywhere:
        manifests += [roles.role(everywhere, arguments.name, kind="ClusterRole")]
    if arguments.user or arguments.group:
        manifests += [roles.binding(each, arguments.user, arguments.group) for each in manifests]
    else:
        output.note("nobody has the role yet: --user NAME or --group NAME prints who gets it")
    if ROWS.show(manifests, arguments.output):
        output.data(manifest.write(manifests))
    return 0
