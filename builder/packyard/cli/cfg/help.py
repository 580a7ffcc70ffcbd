"""The help pages of the `cfg` commands."""

from __future__ import annotations

from packyard.cli.flags import Declared

_ABOUT = """\
The `cfg` commands of kustomize 3.8.7, which kustomize v5 removed.

{commands}

packyard cfg COMMAND --help describes a command.

Arguments, messages and exit codes are the same. Scripts run unchanged, but for
differences that prevent harm: where one package of a tree refuses a change,
none is written. The other commands of 3.8.7 are not here: cat, count, grep and
tree are in kustomize 5 (kustomize cfg cat …); fmt, merge and merge3 are gone
there too."""

#: Of each command, what follows it, and what it does.
_COMMANDS = {
    "set": ("DIR NAME VALUE ...", "Set a setter: every field that its comments mark gets the value."),
    "list-setters": ("DIR [NAME]", "List the setters of a package and of those below it."),
    "create-setter": ("DIR NAME VALUE", "Create a setter, and mark every field that has the value."),
    "create-subst": ("DIR NAME", "Create a substitution: a field's value made of those of several setters."),
    "delete-setter": ("DIR NAME", "Delete a setter, and the comments that mark its fields."),
    "delete-subst": ("DIR NAME", "Delete a substitution, and the comments that mark its fields."),
    "init": ("[DIR]", "Make a directory a package: write its Krmfile."),
    "annotate": ("[DIR]", "Annotate the objects in a directory, or those on standard input."),
}
#: The flags of all commands.
_FLAGS = {
    "kv KEY=VALUE": "an annotation; may be repeated",
    "apiVersion VERSION": "only objects of this apiVersion",
    "kind KIND": "only objects of this kind",
    "name NAME": "only objects of this name",
    "namespace NAME": "only objects in this namespace",
    "values VALUE": "a value; may be repeated, for a setter that is a list",
    "value VALUE": "the value that marks fields, instead of the argument",
    "field PATH": "mark only fields whose path ends so, such as spec.replicas",
    "field-value VALUE": "the value of the fields that it marks (required)",
    "pattern PATTERN": "the value with setters in it, such as nginx:${TAG} (required)",
    "type TYPE": "the type of the value: integer, boolean, string or array",
    "schema-path FILE": "a JSON Schema that values must match",
    "description TEXT": "the setter's description",
    "set-by WHO": "who sets the value; it is kept in the Krmfile",
    "required": "the setter must be set before the package is used",
    "partial": "for setters of version 1, which are not supported",
    "include-subst": "also list substitutions",
    "markdown": "print tables in Markdown",
    "version VERSION": "v2, the version of all setters here; v1 is refused",
    "recurse-subpackages": "-R: packages below DIR, too (list-setters: by default; -R=false)",
}


def overview() -> str:
    """Return the page that lists the commands."""
    commands = "\n".join(f"  {name:<13}  {_COMMANDS[name][1].partition(':')[0].rstrip('.')}" for name in _COMMANDS)
    return f"usage: packyard cfg COMMAND [flags]\n\n{_ABOUT.format(commands=commands)}"


def page(command: str, flags: Declared) -> str:
    """Return the page of a command."""
    own = {**flags.switches, **flags.values}
    lines = [f"  --{named:<20} {text}" for named, text in _FLAGS.items() if named.partition(" ")[0] in own]
    return "\n".join((usage(command), "", _COMMANDS[command][1], *([""] if lines else []), *lines))


def usage(command: str) -> str:
    """Return the line that says how a command is used, or `cfg` itself where there is no such command."""
    if command not in _COMMANDS:
        return "usage: packyard cfg COMMAND; packyard cfg --help lists the commands"
    return f"usage: packyard cfg {command} {_COMMANDS[command][0]} [flags]"
