"""kubectl, the client of a cluster, held to one context and one namespace from the first call to the last."""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from packyard.core.errors import ConflictError, InputError, PackyardError, Problem, UnavailableError
from packyard.core.kubernetes.lenient import Object, mapping, mappings

T = TypeVar("T")
#: What kubectl says that the user may not do, with the resource and its group, which resource nobody serves, and which
#: namespace is not there.
FORBIDDEN = re.compile(r'User .* cannot \w+ resource "([^"]+)" in API group "([^"]*)"[^\n]*')
UNKNOWN = re.compile(r"the server doesn't have a resource type \"([^\"]+)\"")
NO_NAMESPACE = re.compile(r'namespaces "([^"]+)" not found')
#: A line of the log of kubectl's own libraries, before what it says itself.
_LOG = re.compile(r"^[EWIF]\d{4} [\d:.]+ .*$\n?", re.MULTILINE)
_DEAF = re.compile(
    r"(?i)unable to connect to the server|was refused - did you specify|connection refused|i/o timeout"
    r"|tls handshake timeout|no such host|unexpected EOF|connection reset|http2: client connection lost"
    r"|context deadline exceeded|ServiceUnavailable|apiserver not ready"
)
#: kubectl asks for what the kubeconfig does not say, and has nobody to ask.
_ASKS = "Please enter "
_WEBHOOK = "failed calling webhook"  # the server answers, and says so of another one
_UNKNOWN_USER = re.compile(
    r"(?im)you must be logged in|\(Unauthorized\)|^(error: )?Unauthorized$|getting credentials: "
)
#: What a user lacks; webhooks and quotas forbid too, in other words.
_NO_RIGHT = re.compile(r'User "[^"]*" cannot ')
_CONFLICTS = ("AlreadyExists", "Apply failed with")
#: Where the next error begins, of a call for several objects.
_NEXT = re.compile(r'^(?=error: |Error from server|Apply failed with |The \S+ "|unable to recognize )', re.MULTILINE)
#: What kubectl says beside the error: of its own, and the whole value that is wrong, as Go prints it.
_BESIDE = re.compile(
    r"^(?:error: )?(?:Error from server(?: \(\w+\))?: )?(?:error when \w+ \"\S+\": )?"
    r"|Invalid value: [\w.]*\{.*\}: |\nPlease review the fields above.*",
    re.DOTALL,
)
#: How a server names a value of another type, which may be a secret: as Go prints it.
_OTHER_TYPE = re.compile(r"expected (string)?([^,\n]*), got &.*?(?=\n  \.|\Z)", re.DOTALL)
_WARNING = re.compile(r"^Warning: (.*)$\n?", re.MULTILINE)
_REQUEST_TIMEOUT = "60s"
_NO_CONTEXT = "current-context must exist"
_INSTALLED = "https://kubernetes.io/docs/tasks/tools"


@dataclass(frozen=True, slots=True)
class Done:
    """What one call of kubectl gave; ``errors`` are its stderr without warnings and without its log."""

    code: int
    output: bytes
    errors: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubectl:
    """kubectl, and whom it speaks to; ``typed`` are the flags that were typed."""

    program: str
    flags: tuple[str, ...]
    context: str
    namespace: str
    typed: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"context {self.context}, namespace {self.namespace}"

    def words(self, *words: str) -> list[str]:
        """Return the command line of a call."""
        return [self.program, *self.flags, f"--namespace={self.namespace}", *words]

    def packyard(self, *words: str) -> str:
        """Return a command of packyard to type next, for the same cluster and namespace."""
        return shlex.join(["packyard", *words, "-n", self.namespace, *self.typed])

    def by_hand(self, *words: str) -> str:
        """Return likewise a command of kubectl, whatever context is the current one by then."""
        return shlex.join(["kubectl", *self.flags, f"--namespace={self.namespace}", *words])

    def call(self, *words: str, data: bytes = b"") -> Done:
        """Call kubectl with ``data`` on its standard input, and return what it gave, whatever that is.

        Raises `UnavailableError` where it does not start, is killed, or the cluster does not answer or know the user.
        """
        answer = self.ask(words, data)
        stderr = answer.errors if answer.code else ""
        if answer.code < 0:
            raise UnavailableError(Problem(f"{self.program} was killed by signal {-answer.code}"))
        is_asking = stderr and answer.output.startswith(_ASKS.encode())
        is_unknown = is_asking or _UNKNOWN_USER.search(stderr)
        is_deaf = _WEBHOOK not in stderr and _DEAF.search(stderr)
        if is_unknown or is_deaf:
            what = "does not accept your credentials" if is_unknown else "cannot be reached"
            reason = stderr.partition("\n")[0].removeprefix("error: ")
            if is_asking:
                reason = "the kubeconfig names no user with a certificate, a token or a program for this context"
            hint = f"{self.by_hand('auth', 'whoami')} shows whether it answers"
            raise UnavailableError(Problem(f"the cluster of context {self.context} {what}: {reason}", hint=hint))
        return answer

    def ask(self, words: Sequence[str], data: bytes) -> Done:
        """Have the program answer a call."""
        return _run(self.words(f"--request-timeout={_REQUEST_TIMEOUT}", *words), data)

    def run(self, *words: str, data: bytes = b"") -> bytes:
        """Return what a call prints; one that fails raises what `refusal` makes of it."""
        answer = self.call(*words, data=data)
        if answer.code:
            raise self.refusal(answer.errors)
        return answer.output

    def read(self, *words: str, data: bytes = b"") -> list[Object]:
        """Return the objects that a call prints."""
        return self.objects(self.run(*words, "--output=json", data=data))

    def glance(self, *words: str) -> list[Object]:
        """Return likewise the objects that only explain something: none where they cannot be read."""
        try:
            return self.read(*words)
        except PackyardError:
            return []

    def objects(self, output: bytes) -> list[Object]:
        """Return the objects that a call printed as JSON: those of a list, one alone, or none."""
        document = mapping(self.json(output))
        return mappings(document.get("items")) if document.get("kind") == "List" else [document] if document else []

    def json(self, output: bytes) -> Any:
        """Return what a call printed as JSON; nothing gives an empty mapping."""
        try:
            return json.loads(output or b"{}")
        except (ValueError, RecursionError) as error:
            raise UnavailableError(Problem(f"{self.program} gives no JSON: {error}")) from error

    def who(self) -> str:
        """Return the name by which the server knows the user."""
        return self.run("auth", "whoami", "--output=jsonpath={.status.userInfo.username}").decode()

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a call that prints as it reads; whoever starts it ends it."""
        return _start(subprocess.Popen, self.words(*words), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def attach(self, *words: str) -> int:
        """Call kubectl with the terminal of this process, and return its exit code."""
        return _start(subprocess.call, self.words(*words))

    def refusal(self, stderr: str, about: Sequence[str] = ()) -> PackyardError:
        """Return the error for what kubectl said as it failed.

        ``about`` are the objects that it failed with, in their order: an error that does not name its own is given the
        name.
        """
        errors = split(stderr) or ["kubectl failed and gave no reason"]
        if len(set(errors)) == 1:
            errors = errors[:1]
        if len(errors) == len(about):
            errors = [
                text if f'"{name.split()[-1]}"' in text else f"{name}: {text}"
                for name, text in zip(about, errors, strict=True)
            ]
        if _NO_RIGHT.search(stderr):
            hint = f"ask the administrator of namespace {self.namespace} for the Role of docs/operating.md"
            return UnavailableError(*errors[:-1], Problem(errors[-1], hint=hint))
        if absent := NO_NAMESPACE.search(stderr):
            hint = f"{self.by_hand('create', 'namespace', absent[1])} makes it"
            return InputError(*errors[:-1], Problem(errors[-1], hint=hint))
        if any(text in stderr for text in _CONFLICTS):
            return ConflictError(*errors)
        return InputError(*errors)


def find(path: str, *, kubeconfig: str = "", context: str = "", namespace: str = "") -> Kubectl:
    """Return kubectl, from folders joined as in the variable PATH, held to what kubeconfig says now.

    Empty texts ask for what kubectl itself would take: the current context, and the namespace of the context.
    """
    program = shutil.which("kubectl", path=path)
    if program is None:
        hint = f"install it: {_INSTALLED}"
        raise UnavailableError(Problem("kubectl is not on PATH", hint=hint))
    if kubeconfig and not Path(kubeconfig).is_file():
        raise InputError(Problem("is not a file", file=kubeconfig, hint="--kubeconfig names the kubeconfig to use"))
    flags = [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
    chosen = [*flags, *([f"--context={context}"] if context else [])]
    answer = _run([program, *chosen, "config", "view", "--minify", "--output=json"])
    try:
        entry = json.loads(answer.output)["contexts"][0]
    except (ValueError, LookupError, TypeError) as error:
        lists = shlex.join(["kubectl", *flags, "config", "get-contexts"])
        hint = f"{lists} lists them; --context, --kubeconfig or the variable KUBECONFIG names another"
        why = answer.errors.removeprefix("error: ") or f"exit code {answer.code}, and no kubeconfig in JSON"
        why = "there is no kubeconfig, or it sets no current context" if _NO_CONTEXT in why else why
        raise InputError(Problem(f"{program} names no context to use: {why}", hint=hint)) from error
    return Kubectl(
        program=program,
        flags=(*flags, f"--context={entry['name']}"),
        context=entry["name"],
        namespace=namespace or entry["context"].get("namespace") or "default",
        typed=(*chosen[len(flags) :], *flags),
    )


def listed(objects: Iterable[Mapping[str, Any]]) -> bytes:
    """Return objects as the one file that a call reads."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [*objects]}).encode()


def split(stderr: str) -> list[str]:
    """Return each error that kubectl tells, without what it says beside, and without values of another type."""
    return [text for line in _NEXT.split(stderr) if (text := _BESIDE.sub("", _OTHER_TYPE.sub(_of_type, line)).strip())]


def _of_type(match: re.Match[str]) -> str:
    quoted = ": write it in quotes" if match[1] else ""
    return f"expected {match[1] or ''}{match[2]}, found another type{quoted}"


def _run(command: Sequence[str], data: bytes = b"") -> Done:
    process: subprocess.CompletedProcess[bytes] = _start(subprocess.run, command, input=data, capture_output=True)
    text = _LOG.sub("", process.stderr.decode("utf-8", "replace")).strip()
    return Done(process.returncode, process.stdout, _WARNING.sub("", text).strip(), tuple(_WARNING.findall(text)))


def _start(call: Callable[..., T], command: Sequence[str], **how: Any) -> T:
    try:
        return call(command, **how)
    except OSError as error:
        raise UnavailableError(Problem(f"{os.fspath(command[0])}: {error.strerror}")) from error
