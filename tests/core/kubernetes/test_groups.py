"""API groups: which kinds need a definition."""

import pytest

from packyard.core.kubernetes.groups import definitions


@pytest.mark.parametrize(
    ("api_version", "kind", "name"),
    [
        ("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets.jobset.x-k8s.io"),
        ("gateway.networking.k8s.io/v1", "Gateway", "gateways.gateway.networking.k8s.io"),
        ("security.istio.io/v1", "AuthorizationPolicy", "authorizationpolicies.security.istio.io"),
        ("serving.knative.dev/v1", "Ingress", "ingresses.serving.knative.dev"),
        ("example.com/v1", "Gateway", "gateways.example.com"),
        ("example.com/v1", "Endpoints", "endpoints.example.com"),
    ],
)
def test_other_kinds_need_a_definition(api_version: str, kind: str, name: str) -> None:
    assert definitions(api_version, kind) == [name]
