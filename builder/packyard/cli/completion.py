"""Print the script that makes a shell complete packyard's verbs, flags, setter names and values.

eval "$(packyard completion bash)"          in ~/.bashrc
eval "$(packyard completion zsh)"           in ~/.zshrc
packyard completion fish | source           in ~/.config/fish/config.fish
"""

from __future__ import annotations

import argparse

from packyard.cli import output

# bash also breaks words at characters such as `=`: they are joined again here, by the spaces of the line. The pieces of
# a word before the last one, which bash does not replace, are removed from what it inserts.
_BASH = """\
_packyard() {
    local IFS=' ' words=() piece i
    local line=${COMP_WORDS[*]} IFS=$'\\n'
    if [[ -n $COMP_LINE ]]; then line=${COMP_LINE:0:COMP_POINT}; fi
    for ((i = 0; i <= COMP_CWORD; i++)); do
        piece=${COMP_WORDS[i]}
        if ((i == 0)) || [[ $line == [[:blank:]]* ]]; then
            words+=("")
            line=${line#"${line%%[![:blank:]]*}"}
        fi
        if ((i == COMP_CWORD)); then piece=$line; fi
        words[${#words[@]} - 1]+=$piece
        line=${line#"$piece"}
    done
    COMPREPLY=($(packyard complete -- "${words[@]:1}" 2>/dev/null))
    if ((${#COMPREPLY[@]} == 0)); then
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -f -- "$piece"))
        return
    fi
    if [[ ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
    if [[ $piece != *[!=:@]* ]]; then piece=; fi
    line=${words[${#words[@]} - 1]}
    COMPREPLY=("${COMPREPLY[@]#"${line%"$piece"}"}")
}
complete -F _packyard packyard
"""
_ZSH = """\
_packyard() {
    local -a found
    found=(${(f)"$(packyard complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
    if (( ! $#found )); then
        _files
        return
    fi
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _packyard packyard
"""
_FISH = """\
function __packyard_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (packyard complete -- $words[2..-1] 2>/dev/null)
    if test (count $found) -eq 0
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $found
    end
end
complete -c packyard -f -a '(__packyard_complete)'
"""
#: The script for each shell.
SHELLS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("shell", metavar="SHELL", choices=tuple(SHELLS), help=", ".join(SHELLS))


def run(arguments: argparse.Namespace) -> int:
    """Print the shell's script."""
    output.data(SHELLS[arguments.shell].encode())
    return 0
