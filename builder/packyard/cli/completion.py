"""Print the script that makes a shell complete packyard's verbs, flags, setter names and values.

eval "$(packyard completion bash)"          in ~/.bashrc
eval "$(packyard completion zsh)"           in ~/.zshrc
packyard completion fish | source           in ~/.config/fish/config.fish
"""

from pathlib import Path

from packyard.cli import declare, output

# bash also breaks words at characters such as `=`: they are joined again here, by the spaces of the line. The pieces of
# a word before the last one, which bash does not replace, are removed from what it inserts.
#: The shells; ``completion.bash`` is the script of the first.
SHELLS = ("bash", "zsh", "fish")
EXAMPLE = "packyard completion bash"


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def run(arguments: declare.Arguments) -> None:
    """Print the shell's script."""
    output.data(Path(__file__).with_name(f"completion.{arguments.shell}").read_bytes())
