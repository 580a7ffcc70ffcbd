"""Server-side apply of a run's objects, for real or as a dry run; a refusal names the object that it is about."""

import time
from collections.abc import Callable, Mapping, Sequence

from packyard.core.errors import ConflictError, InputError
from packyard.core.kubernetes.kinds import CORE, RBAC, TRAINER, Kind, of
from packyard.running.runs.kubectl import Kubectl, listed
from packyard.running.runs.run import Object, Reference

#: What a server looks up as it admits an object: where a package brings both, it is applied first, and a dry run
#: cannot see it.
_LOOKED_UP: Mapping[Kind, Sequence[Kind]] = {
    (TRAINER, "TrainJob"): of(TRAINER, "TrainingRuntime", "ClusterTrainingRuntime"),
    (RBAC, "RoleBinding"): of(RBAC, "Role", "ClusterRole"),
    (RBAC, "ClusterRoleBinding"): of(RBAC, "ClusterRole"),
    (CORE, "Pod"): [*of(CORE, "ServiceAccount"), *of("scheduling.k8s.io", "PriorityClass")],
}
#: Seconds until the next try, of what a controller has to see before it admits what refers to it.
_PAUSES = (0.2, 0.5, 1, 2, 4, 8, 8, 8)
_TAKES_OVER = "--force takes over fields that others have set"

Done = Callable[[Reference], None]


def waits_for(reference: Reference, objects: Sequence[Reference]) -> bool:
    """Say whether an object is only admitted when one of ``objects`` is there."""
    return any(item.group_kind in _LOOKED_UP.get(reference.group_kind, ()) for item in objects)


def manager(run: str) -> str:
    """Return the field manager of a run: what another run, or somebody else, has set is refused by the server."""
    return f"--field-manager=packyard/{run}"


def apply(
    kubectl: Kubectl,
    run: str,
    objects: Sequence[Object],
    *,
    force: bool = False,
    is_trial: bool = False,
    done: Done = lambda _: None,
) -> list[str]:
    """Apply objects, in their order, by one call; tell ``done`` each, and return the warnings of the server.

    In a trial the server judges them and stores nothing. What it refuses is told of all of them.
    """
    if not objects:
        return []
    left = {_printed(reference): reference for reference in (Reference.of(item, kubectl.namespace) for item in objects)}
    # What the server applies it checks, field by field; kubectl would download all schemas to do so first.
    words = ["apply", "--server-side", "--validate=false", manager(run), "--filename=-"]
    words += [*["--force-conflicts"] * force, *["--dry-run=server"] * is_trial]
    answer = kubectl.call(*words, "--output=name", data=listed(objects))
    for line in answer.output.decode().splitlines():
        if line in left:
            done(left.pop(line))
    if answer.code:
        error = kubectl.refusal(answer.errors, list(map(str, left.values())))
        raise error.hinted(_TAKES_OVER) if isinstance(error, ConflictError) else error
    return list(answer.warnings)


def apply_late(kubectl: Kubectl, run: str, objects: Sequence[Object], *, force: bool, done: Done) -> list[str]:
    """Apply objects that refer to some that were just applied, again until these are known."""
    for pause in _PAUSES:
        try:
            return apply(kubectl, run, objects, force=force, done=done)
        except (InputError, ConflictError):
            time.sleep(pause)
    return apply(kubectl, run, objects, force=force, done=done)


def difference(kubectl: Kubectl, run: str, objects: Sequence[Object], *, force: bool) -> bytes:
    """Return as a unified diff what applying objects would change; kubectl masks the data of Secrets."""
    words = ["diff", "--server-side", manager(run), "--filename=-", *(["--force-conflicts"] * force)]
    answer = kubectl.call(*words, data=listed(objects))
    if answer.code > 1 or (answer.code and not answer.output):
        raise kubectl.refusal(answer.errors)
    return answer.output


def _printed(reference: Reference) -> str:
    """Return how kubectl prints the name of an object: ``job.batch/mnist``."""
    group, kind = reference.group_kind
    return f"{kind.lower()}{'.' if group else ''}{group}/{reference.name}"
