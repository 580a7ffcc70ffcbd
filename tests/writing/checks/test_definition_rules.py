"""The rules in CEL that definitions of custom resources carry judge objects as an API server does."""

import pytest

from packyard.core.kubernetes import schemas
from writing.checks.linting import lint, package

ROUTE = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: a}\nspec:\n"
ROUTE += "  parentRefs: [{name: a}]\n  rules:\n"
BACKEND = "backendRefs: [{name: a, port: 80}]"
REDIRECT = "{type: RequestRedirect, requestRedirect: {port: 80}}"
PREFIX = "{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /b}}}"
WRONG = {
    "a redirect that says nothing": "filters: [{type: RequestRedirect}]",
    "a redirect with backends": f"filters: [{REDIRECT}], {BACKEND}",
    "a relative path": f"matches: [{{path: {{value: v1}}}}], {BACKEND}",
    "a path upwards": f"matches: [{{path: {{value: /a/../b}}}}], {BACKEND}",
    "a prefix of an exact path": f"matches: [{{path: {{type: Exact, value: /a}}}}], filters: [{PREFIX}], {BACKEND}",
    "a request that ends before its backend": f"timeouts: {{request: 1s, backendRequest: 5s}}, {BACKEND}",
    "two rewrites": f"filters: [{PREFIX}, {PREFIX}], {BACKEND}",
    "a filter of another type": f"filters: [{{type: ExtensionRef, requestRedirect: {{port: 80}}}}], {BACKEND}",
    "a backend without a port": "backendRefs: [{name: a}]",
}
RIGHT = (
    BACKEND,
    f"filters: [{REDIRECT}]",
    f"matches: [{{path: {{value: /a}}}}], filters: [{PREFIX}], {BACKEND}",
    f"matches: [{{path: {{value: '{{{{a}}}}'}}}}], {BACKEND}",
)


def refused(rule: str) -> list[tuple[str, str]]:
    """Return what lint says of a route with a rule, but for its labels."""
    files = package({"a.yaml": f"{ROUTE}  - {{{rule}}}\n"})
    return [(each.rule, each.message) for each in lint(files, judges=schemas.choose()) if each.severity == "error"]


@pytest.mark.parametrize("rule", WRONG.values(), ids=WRONG)
def test_a_route_that_its_definition_excludes_is_refused(rule: str) -> None:
    assert {name for name, _ in refused(rule)} == {"server-refuses"}


@pytest.mark.parametrize("rule", RIGHT)
def test_a_route_as_its_definition_wants_it_is_not_refused(rule: str) -> None:
    assert refused(rule) == []
