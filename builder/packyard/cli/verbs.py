"""The verbs in the groups of the help: the module of each, and what it does. Also what other tools call them."""

from collections.abc import Mapping

_USE = "Use packages"
#: The verbs of each group, with their modules, below `packyard.cli`, and what they do.
GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    _USE: {
        "list": ("using.list", "list packages, or those that have a word"),
        "show": ("using.show", "show what a package is before you fetch it"),
        "get": ("using.get", "fetch a package into a folder"),
        "setters": ("using.setters", "list the parameters of a package, and which must be set"),
        "set": ("using.set", "set values; no other byte of the package changes"),
        "explain": ("using.explain", "show what a parameter takes, and every field that it changes"),
        "enable": ("using.enable", "enable an option, or disable it; without a name, list the options"),
        "upgrade": ("using.upgrade", "move a package to another version; your changes stay"),
        "undo": ("using.undo", "undo the last change, or do it again"),
        "render": ("using.render", "print a use case's manifests, once required values are set"),
        "verify": ("using.verify", "check who made a package, and that its files are as published"),
        "diff": ("using.diff", "compare packages: parameters, fields, files, and what breaks"),
    },
    "Run on a cluster": {
        "run": ("running.run", "deploy a use case and follow its log"),
        "doctor": ("running.doctor", "say what keeps a use case from running on a cluster"),
        "deploy": ("running.deploy", "deploy a use case to a cluster, and wait until it runs"),
        "status": ("running.status", "show what runs do, and why something does not run"),
        "logs": ("running.logs", "print what the pods of a run print, or what happened to it"),
        "exec": ("running.exec", "open a shell in a pod of a run, or run a command there"),
        "forward": ("running.forward", "reach what a run serves: TensorBoard, a notebook, a model"),
        "results": ("running.results", "show where results are, and how they are copied"),
        "undeploy": ("running.undeploy", "delete runs; claims stay, and so do results"),
        "rollback": ("running.rollback", "deploy a run as it was before; list its records"),
    },
    "Write packages": {
        "init": ("writing.init", "begin a workspace for packages of your own"),
        "new": ("writing.new", "write a new package of the workspace"),
        "import": ("writing.import_", "write a source package from kustomizations or manifests"),
        "lint": ("writing.lint", "report what is wrong with packages"),
        "test": ("writing.test", "build packages and try them as their users do"),
        "build": ("writing.build", "compose packages from their sources and pack them"),
    },
    "Publish packages": {
        "publish": ("sharing.publish", "build packages and publish them to a channel"),
        "copy": ("sharing.copy", "copy packages from one channel to another: all, or those named"),
        "yank": ("sharing.yank", "say that nobody should use a published version any more, and why"),
        "gc": ("sharing.gc", "remove old versions that a policy names, for ever"),
        "fsck": ("sharing.fsck", "check every file of a channel, or repair its index"),
        "web": ("sharing.web", "put a page beside a channel that shows its packages in a browser"),
        "keys": ("sharing.keys", "make keys that sign what you publish, and trust those of others"),
    },
    "Other tools": {
        "config": ("using.config", "show what is set for all commands, and where"),
        "cfg": ("cfg", "kustomize's own `cfg` commands, which its v5 removed"),
        "fn": ("using.fn", "KRM functions for kpt and kustomize, such as apply-setters"),
        "completion": ("completion", "print the script that completes names and values in a shell"),
    },
}
#: Every verb that the help lists.
VERBS = {verb: entry for verbs in GROUPS.values() for verb, entry in verbs.items()}
#: What is typed here for verbs of Helm, kpt, kubectl, git, pip and oras, some of which are two words.
_MEANT = {
    "build": "make, pack, package",
    "config": "env, settings, repo list, repo ls",
    "deploy DIR": "apply, apply -k, live apply",
    "enable DIR OPTION --off": "disable",
    "exec RUN": "shell, ssh",
    "forward RUN": "port-forward",
    "docker login HOST, as packyard reads ~/.docker/config.json": "login, registry login",
    "enable DIR": "option, options",
    "get NAME": "add, clone, download, fetch, install, pkg get, pull, use",
    "keys trust KEY CHANNEL": "trust",
    "keys untrust CHANNEL": "untrust",
    "lint": "validate",
    "list": "ls, repo update",
    "config set channel ADDRESS": "channel, repo",
    "list WORD": "search, search hub, search repo",
    "logs RUN": "log",
    "logs RUN --events": "events",
    "new NAME": "create, pkg init",
    "publish --version VERSION --to CHANNEL": "push",
    "render DIR": "export, kustomize, kustomize build, template",
    "results RUN": "cp",
    "rollback RUN": "rollout undo",
    "rollback RUN --list": "history, rollout history",
    "run NAME/USECASE": "helm install, start",
    "set DIR --unset NAME": "unset",
    "set DIR NAME=VALUE": "edit, kustomize edit",
    "setters DIR": "values",
    "show NAME": "info, inspect, tags, versions",
    "status": "ps",
    "status RUN": "describe, live status, rollout status, top, wait",
    "undeploy RUN": "delete, destroy, kill, live destroy, remove, rm, stop, uninstall",
    "undo DIR": "reset, restore, revert",
    "undo --redo": "redo",
    "upgrade DIR": "pkg update, sync, update",
    "verify DIR": "check",
}
FOREIGN: Mapping[str, str] = {word: typed for typed, words in _MEANT.items() for word in words.split(", ")}
_FLAGS = """\
Flags of every verb:

  -h, --help     describe the verb
  -q, --quiet    print results and problems only
  -v, --verbose  also print the programs that it runs"""


def overview(version: str) -> str:
    """Return what `packyard` alone prints: the verbs of users, and the names of the others."""
    from textwrap import fill  # slow to import, and only needed here

    title = f"packyard {version}: packages of Kubernetes manifests with parameters"
    words = (f"{group + ':':<18} {' '.join(verbs)}" for group, verbs in GROUPS.items() if group != _USE)
    names = [fill(line, 80, subsequent_indent=" " * 19, break_on_hyphens=False) for line in words]
    more = "packyard VERB --help describes a verb, packyard help all lists all."
    return "\n\n".join((title, _table(_USE), "\n".join(names), more))


def every() -> str:
    """Return all verbs with what they do, group by group, and the flags of every verb."""
    return "\n\n".join((*(f"{group}:\n\n{_table(group)}" for group in GROUPS), _FLAGS))


def _table(group: str) -> str:
    return "\n".join(f"  {verb:<11} {text}" for verb, (_, text) in GROUPS[group].items())
