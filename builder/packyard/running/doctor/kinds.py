"""Whether the cluster knows the kinds of a package, in the version that is used, and who acts on them is well."""

from collections.abc import Iterator, Sequence
from shlex import quote

from packyard.core.bundle.prerequisite import version_of
from packyard.core.kubernetes import groups, operators
from packyard.core.kubernetes.kinds import group_of
from packyard.core.kubernetes.lenient import Object, mapping, text, type_of
from packyard.core.kubernetes.operators import Operator
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, error, passed, unknown, warning

_CHECK = "api"


def served(objects: Sequence[Object], facts: Facts, declared: Sequence[Operator]) -> Iterator[Finding]:
    """Find each kind in the version that is used; ``declared`` are operators that authors name."""
    for version, kind in sorted({*map(type_of, objects), *_custom(objects)}) if facts.groups else ():
        about = f"{kind} of {version}"
        if facts.serves(version):
            yield passed(_CHECK, about)
            continue
        group = group_of(version)
        others_served = ", ".join(facts.groups.get(group, ()))
        message = f"is not served, only {group}/{others_served}" if others_served else "is not known to the cluster"
        operator = _operator(version, kind, declared)
        why = f"{operator.operator} {operator.needs}".rstrip() + " brings it" if operator else "it cannot be applied"
        yield error(_CHECK, about, message, why=why, fix=operator.fix if operator else "")


def _operator(version: str, kind: str, declared: Sequence[Operator]) -> Operator | None:
    definitions = {name for operator in declared for name in operator.definitions}
    return operators.of(groups.definition(version, kind, definitions), declared)


def ask_operators(objects: Sequence[Object], declared: Sequence[Operator]) -> Questions:
    """Ask for all Deployments, where a kind needs an operator."""
    return Questions(everywhere=frozenset({"Deployment"} if _operators(objects, declared) else ()))


def operated(objects: Sequence[Object], facts: Facts, declared: Sequence[Operator]) -> Iterator[Finding]:
    """Find the operator of each kind: there, with a pod that is ready, and new enough."""
    for operator, kinds in _operators(objects, declared).items():
        served_kinds = [kind for version, kind in kinds if facts.serves(version)]
        if not served_kinds:
            continue  # what brings the kind brings the operator
        why = f"unless it runs elsewhere, nothing acts on a {served_kinds[0]}: no pod appears, and no error"
        yield from _running(operator, facts, why)


def known(facts: Facts) -> Iterator[Finding]:
    """Find the operators that packyard knows, whatever needs them."""
    why = "no package that needs it can run here, unless it runs elsewhere"
    for operator in operators.OPERATORS:
        yield from _running(operator, facts, why if operator.definitions else "")


def _running(operator: Operator, facts: Facts, why: str) -> Iterator[Finding]:
    """Find an operator well wherever it runs; ``why`` says what comes of it where it does not, if anything does."""
    running = operators.find(operator, facts.all("Deployment"))
    if why and not running:
        yield warning(_CHECK, operator.operator, "no Deployment of this cluster runs it", why=why, fix=operator.fix)
    yield from (judge(operator, deployment, tag) for deployment, tag in running)


def judge(operator: Operator, deployment: Object, tag: str) -> Finding:
    """Find an operator well that runs with an image of this tag: with a pod that is ready, and new enough."""
    metadata = mapping(deployment.get("metadata"))
    name, namespace = text(metadata.get("name")), text(metadata.get("namespace"))
    about = f"{operator.operator} {tag}".strip()
    if not mapping(deployment.get("status")).get("availableReplicas"):
        message = f"no pod of Deployment {namespace}/{name} is ready"
        why = "nothing acts on what is applied until it is"
        fix = f"kubectl --namespace={quote(namespace)} describe deployment {quote(name)}"
        return error(_CHECK, about, message, why=why, fix=fix)
    version, why = version_of(tag), f"packages need {operator.needs}"
    if not operator.needs:
        return passed(_CHECK, about)
    if version is None:
        message = f"the image of Deployment {namespace}/{name} does not tell its version"
        return unknown(_CHECK, about, message, why=why)
    if operator.admits(version):
        return passed(_CHECK, about)
    tested = operator.tested or operator.oldest
    return error(_CHECK, about, "is too old", why=f"{why}; {tested} is tested" if tested else why, fix=operator.fix)


def _custom(objects: Sequence[Object]) -> list[tuple[str, str]]:
    return sorted({kind for item in objects for kind in groups.custom(*type_of(item))})


def _operators(objects: Sequence[Object], declared: Sequence[Operator]) -> dict[Operator, list[tuple[str, str]]]:
    """Return the operators that objects need, each with its kinds."""
    by_operator: dict[Operator, list[tuple[str, str]]] = {}
    for kind in _custom(objects):
        if operator := _operator(*kind, declared):
            by_operator.setdefault(operator, []).append(kind)
    return by_operator
