"""What is wrong with a kubeconfig, told apart by what kubectl says of it, with the command that shows more."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote

from packyard.core.errors import Problem

_ABSENT = re.compile(r"current-context must exist")
_PART = re.compile(r"cannot locate (context|cluster|user) (.*)")
_CERTIFICATE = re.compile(
    r"\A(?:error: )?(?:unable to load root certificates|Error in configuration: .*certificate"
    r"|Unable to connect to the server: .*x509: )"
)
_ASKED = "EOF"  # a name and a password, of nobody
_NO_TLS = "the server rejected our request for an unknown reason"
_LOADING = re.compile(r'error loading config file "([^"]*)": (.*)', re.DOTALL)


def no_context(stderr: str, kubeconfig: str) -> Problem:
    """Return why kubectl has no context to use; ``kubeconfig`` is the file that the user named, if any."""
    where = kubeconfig or "your kubeconfig"
    contexts = f"{_typed(kubeconfig)('config', 'get-contexts')} lists them"
    if _ABSENT.search(stderr):
        return _absent(kubeconfig, contexts)
    if (part := _PART.search(stderr)) and part[1] == "context":
        return Problem(f"{where} has no context {part[2]}", hint=contexts)
    if part:
        view = f"{_typed(kubeconfig)('config', 'view')} shows what it has"
        return Problem(f"the context of {where} names {part[1]} {part[2]}, which is not there", hint=view)
    if loading := _LOADING.search(stderr):
        hint = "name the file that your cluster gave you, by --kubeconfig or the variable KUBECONFIG"
        return Problem(f"{loading[1]} cannot be read as a kubeconfig: {loading[2]}", hint=hint)
    return Problem(f"there is no context to use: {stderr.removeprefix('error: ')}", hint=contexts)


def unusable(stderr: str, flags: Sequence[str], context: str) -> Problem | None:
    """Return why a cluster cannot be asked where the cause is in kubeconfig; None where it is not."""
    view = shown(flags, "config", "view", "--minify")
    if _CERTIFICATE.search(stderr):
        reason = stderr.removeprefix("error: ").removeprefix("Unable to connect to the server: ")
        message = f"the certificate authority of context {context} is not usable: {reason}"
        return Problem(message, hint=f"{view} shows which certificate-authority it names")
    if stderr.removeprefix("error: ") == _ASKED:
        message = f"the kubeconfig has no credentials for the user of context {context}, and kubectl asks for a name"
        return Problem(message, hint=f"log in to the cluster again; {view} shows what there is")
    if _NO_TLS in stderr:
        message = f"the server of context {context} does not answer as a Kubernetes API: is its address https://…?"
        return Problem(message, hint=f"{view} shows the address")
    return None


def shown(flags: Sequence[str], *words: str) -> str:
    """Return a command of kubectl for the same cluster."""
    return " ".join(map(quote, ("kubectl", *flags, *words)))


def _typed(kubeconfig: str) -> Callable[..., str]:
    flags = [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
    return lambda *words: shown(flags, *words)


def _absent(kubeconfig: str, contexts: str) -> Problem:
    if not kubeconfig:
        hint = "name a file by --kubeconfig or the variable KUBECONFIG, or a context by --context"
        return Problem("kubectl knows no cluster: no kubeconfig names a current context", hint=hint)
    if not Path(kubeconfig).exists():
        return Problem("there is no such kubeconfig", file=kubeconfig, hint="--kubeconfig names a file")
    return Problem("names no current context", file=kubeconfig, hint=f"{contexts}; --context NAME chooses one")
