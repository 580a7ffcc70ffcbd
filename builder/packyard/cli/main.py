"""``packyard VERB …``: finds the verb, runs it, and turns what was raised into an exit code.

0 done, 1 refused, 2 wrong usage, 3 a bug in packyard, 130 interrupted. Each verb is a module with ``add_arguments`` and
``run``, or with its own ``main``; only the module of the verb in use is imported.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from packyard import __version__
from packyard.cli import output, streams
from packyard.core.errors import PackyardError, Problem, UnavailableError, UsageError, suggest

#: Every verb, in the order of the help: its module and what it does.
VERBS = {
    "list": ("using.list", "list the packages of a channel, or of the catalogue"),
    "search": ("using.search", "search a channel by words"),
    "get": ("using.get", "fetch a package, verify it and unpack it"),
    "setters": ("using.setters", "list the setters of a package, and which must be set"),
    "set": ("using.set", "set values; no other byte of the package changes"),
    "explain": ("using.explain", "show every field that a setter changes, and how"),
    "enable": ("using.enable", "enable an option of a use case; without a name, list options"),
    "disable": ("using.disable", "disable an option of a use case"),
    "upgrade": ("using.upgrade", "move an untarred package to another version; what you changed stays"),
    "undo": ("using.undo", "undo the last change; again, the one before it"),
    "render": ("using.render", "print a use case's manifests, once all required values are set"),
    "verify": ("using.verify", "check a tarball or an untarred package, and who made it"),
    "diff": ("using.diff", "compare packages: setters, fields, files, and what breaks"),
    "run": ("running.run", "get a package, set values, check the cluster, deploy, follow the log"),
    "doctor": ("running.doctor", "say what keeps a use case from running on a cluster"),
    "deploy": ("running.deploy", "deploy a use case to a cluster, and wait until it runs"),
    "status": ("running.status", "show what runs do, and why something does not run"),
    "logs": ("running.logs", "print what the pods of a run print"),
    "events": ("running.events", "print what happened to a run, the newest last"),
    "exec": ("running.exec", "open a shell in a pod of a run, or run a command there"),
    "forward": ("running.forward", "reach what a run serves: TensorBoard, a notebook, a model"),
    "undeploy": ("running.undeploy", "delete runs; claims stay, and so do results"),
    "history": ("running.history", "list when a run was deployed, by whom, and what changed"),
    "redeploy": ("running.redeploy", "deploy a run again as it was recorded"),
    "prerequisites": ("running.prerequisites", "list what packages need installed on a cluster, and whether it is"),
    "roles": ("running.roles", "print the roles of users who deploy packages"),
    "init": ("writing.init", "begin a workspace for packages of your own"),
    "new": ("writing.new", "write a new package of the workspace"),
    "import": ("writing.import_", "write a source package from a package that exists"),
    "parts": ("writing.parts", "list the bases and overlays that packages can be made of"),
    "preview": ("writing.preview", "print what a use case composes to, again at each save"),
    "lint": ("writing.lint", "report what is wrong with packages"),
    "test": ("writing.test", "build packages and try them as their users do"),
    "source": ("writing.source", "show which line of the sources made a line of a composed file"),
    "build": ("writing.build", "compose packages from their sources and pack them"),
    "docs": ("writing.docs", "write the READMEs of packages, or check those that were committed"),
    "impact": ("writing.impact", "tell which packages and use cases a change in git touches"),
    "update": ("writing.update", "pin the newest libraries, and show what they change in packages"),
    "vendor": ("writing.vendor", "copy libraries into the workspace"),
    "schema": ("writing.schema", "print the JSON Schema of a file that authors write"),
    "publish": ("sharing.publish", "build packages and publish them to a channel"),
    "promote": ("sharing.promote", "publish in one channel what another one has"),
    "mirror": ("sharing.mirror", "copy a channel, or packages of it, to another one"),
    "yank": ("sharing.yank", "say that nobody should use a published version any more, and why"),
    "fsck": ("sharing.fsck", "check every file of a channel"),
    "reindex": ("sharing.reindex", "make the index of a channel again"),
    "rebuild": ("sharing.rebuild", "build a published package again and compare"),
    "keys": ("sharing.keys", "make keys that sign what you publish, and trust those of others"),
    "cache": ("using.cache", "show what is kept of what was fetched and built, or delete it"),
    "config": ("using.config", "show what is set for all commands, and where"),
    "cfg": ("cfg", "kustomize's own `cfg` commands, which its v5 removed"),
    "fn": ("using.fn", "KRM functions for kpt and kustomize, such as apply-setters"),
    "completion": ("completion", "print the script that completes names and values in a shell"),
    "version": ("version", "print the version"),
}
#: What verbs are for, by the first of each kind.
PURPOSES = {
    "list": "Use packages:",
    "run": "Run them on a cluster:",
    "init": "Write packages:",
    "publish": "Publish them:",
    "cache": "Beside that:",
}
#: The flags that may precede the verb.
FLAGS = ("--help", "--version", "--quiet", "--verbose")

_HELP = ("-h", "--help", "help")
_VERBOSITY = {"-q": "quiet", "--quiet": "quiet", "-v": "verbose", "--verbose": "verbose"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    streams.open_missing()
    words = list(sys.argv[1:] if arguments is None else arguments)
    gc.disable()  # commands are too short for it to pay
    try:
        code = run(words)
        streams.flush()
        return code
    except UsageError as error:
        output.refusal(error)
        return 2
    except PackyardError as error:
        output.refusal(error)
        return 1
    except KeyboardInterrupt:
        output.warning("interrupted")
        return 130
    except streams.Closed:
        return 1
    except Exception as error:
        return _unforeseen(error)


def _unforeseen(error: Exception) -> int:
    """Report an unexpected error: a file that the system refuses, or a bug, with all that helps to fix it."""
    if isinstance(error, OSError) and (problem := _refused_by_system(error)):
        output.refusal(UnavailableError(problem))
        return 1
    import traceback

    output.warning("".join(traceback.format_exception(error)).rstrip())
    output.warning("this is a bug of packyard: please report it with the lines above")
    return 3


def _refused_by_system(error: OSError) -> Problem | None:
    if isinstance(error.filename, str | bytes) and error.strerror:
        return Problem(error.strerror, file=os.fsdecode(error.filename))
    try:
        os.getcwd()  # noqa: PTH109  # as pathlib does
    except OSError:
        return Problem("the working directory is gone; change to one that exists: cd DIR")
    return None


def run(words: list[str]) -> int:
    """Run the verb of a command line, and raise what it raises."""
    verbosity = {"quiet": False, "verbose": False}
    while words and words[0] in _VERBOSITY:
        verbosity[_VERBOSITY[words.pop(0)]] = True
    if any(verbosity.values()):
        from packyard.cli import watch

        watch.tell(**verbosity)
    if len(words) > 1 and words[0] in _HELP:
        words = [words[1], *words[2:], "--help"]
    if not words or words[0] in _HELP:
        output.page(_help())
        return 0
    if words[0] in ("-V", "--version"):
        words[0] = "version"
    verb, *rest = words
    if verb not in VERBS and verb != "complete":
        raise UsageError(_unknown(verb))
    module = import_module(f"packyard.cli.{VERBS[verb][0] if verb in VERBS else verb}")
    if hasattr(module, "main"):  # the verb parses its own command line
        return int(module.main(rest))
    from packyard.cli import parser

    return parser.run(module, verb, rest)


def _unknown(word: str) -> str:
    hint = suggest(word, FLAGS if word.startswith("-") else VERBS)
    found = f"no flag {word!r} before the verb" if word.startswith("-") else f"no verb {word!r}"
    return f"packyard: {found}" + (f" ({hint})" if hint else "") + "; packyard help lists all"


def _help() -> str:
    lines = [f"packyard {__version__}: assemble, set, pack, publish and run packages for Kustomize"]
    longest = max(map(len, VERBS))
    for verb, (_, text) in VERBS.items():
        lines += ["", PURPOSES[verb], ""] if verb in PURPOSES else []
        lines.append(f"  packyard {verb:<{longest}} {text}")
    more = (
        "",
        "packyard VERB --help, or packyard help VERB, describes a verb. Flags before the verb:",
        "",
        "  -q, --quiet    print results and problems only",
        "  -v, --verbose  also print files, requests and programs in use",
        "  -V, --version  print the version",
    )
    return "\n".join([*lines, *more])


if __name__ == "__main__":
    sys.exit(main())
