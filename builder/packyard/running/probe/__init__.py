"""Trying a use case's own pods, by small Jobs: image, user, node, volumes, accounts and names, before anything is run.

Each pod of the use case gets a Job with the same image, identity, mounts, variables, node and account. In the place of
its program runs `probe.sh`, which looks for what `contract` derives from the program's command and variables. What the
use case brings for its pods, such as ConfigMaps, comes as copies: no object of a run is touched, and none is left.
"""
