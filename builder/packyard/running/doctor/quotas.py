"""Whether quotas of the namespace have room for all pods that a run has at once.

The dry run tries one pod of each form, and a quota admits that one: of ten workers three may come, and only events say
why; of objects the server itself says so. A quota counts what is there already, which is why nothing is said where the
run is there. One that counts only some pods, by its scopes, is left to the server.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

from packyard.core.kubernetes.lenient import Object, mapping, name_of
from packyard.running.doctor import demand
from packyard.running.doctor.demand import Amounts, PodSet, amounts, number
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, error, passed

_CHECK, _KIND = "quota", "ResourceQuota"
_ONE = 10**9  # of what is counted, in the unit of quantities
_WHY = "what is beyond it is refused, of pods only events say so"
#: Resources that a quota counts under their own name as well.
_COMPUTED = ("cpu", "memory", "ephemeral-storage")


def ask(objects: Sequence[Object]) -> Questions:
    """Ask for quotas, and for pods of the run that count in them."""
    return Questions(inside=frozenset({_KIND, "Pod"} if objects else ()))


def have_room(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find room in each quota for all pods together."""
    moments = demand.moments(demand.find(objects))
    needs = reduce(or_, map(_together, moments), Amounts())
    for quota in [] if demand.own_pods(objects, facts) else facts.all(_KIND):
        about, spec = f"{_KIND} {name_of(quota)}", mapping(quota.get("spec"))
        if spec.get("scopes") or spec.get("scopeSelector"):
            continue
        hard, used = amounts(spec.get("hard")), amounts(mapping(quota.get("status")).get("used"))
        full = [name for name in sorted(hard) if needs.get(name) and used.get(name, 0) + needs[name] > hard[name]]
        if full:
            message = f"has no room: {'; '.join(_over(name, needs, used, hard) for name in full)}"
            yield error(_CHECK, about, message, why=_WHY, fix=f"{facts.inside} describe resourcequotas")
        else:
            yield passed(_CHECK, about)


def _together(moment: Sequence[PodSet]) -> Amounts:
    """Return what pods take at once, by the names that quotas have for it."""
    needs = Amounts()
    for pods in moment:
        requests = demand.requests(pods.pod)
        of_one = {
            **{f"requests.{name}": amount for name, amount in requests.items()},
            **{name: amount for name, amount in requests.items() if name in _COMPUTED},
            **{f"limits.{name}": amount for name, amount in demand.whole(pods.pod, "limits").items()},
            **dict.fromkeys(("pods", "count/pods"), _ONE),
        }
        needs += Amounts({name: amount * pods.count for name, amount in of_one.items()})
    return needs


def _over(name: str, needs: Amounts, used: Amounts, hard: Amounts) -> str:
    free, whole = number(name, max(0, hard[name] - used.get(name, 0))), number(name, hard[name])
    return f"{name}: {number(name, needs[name])} needed, {free} of {whole} free"
