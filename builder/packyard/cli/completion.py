"""Print what makes a shell complete packyard's verbs, setter names and values.

eval "$(packyard completion bash)"      in ~/.bashrc; for zsh: packyard completion zsh
"""

from __future__ import annotations

import argparse

_BASH = """\
_packyard() {
    local IFS=$'\\n'
    COMPREPLY=($(packyard complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    if [ ${#COMPREPLY[@]} -eq 0 ]; then
        COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
    elif [[ ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
COMP_WORDBREAKS=${COMP_WORDBREAKS//=/}
complete -o filenames -F _packyard packyard
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("shell", choices=("bash", "zsh"))


def run(arguments: argparse.Namespace) -> int:
    """Print the shell's code."""
    print((_ZSH if arguments.shell == "zsh" else "") + _BASH, end="")
    return 0
