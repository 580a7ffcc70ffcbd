"""Buckets of S3: ``s3://bucket/prefix``, and where AWS's own tools find credentials, region and endpoint.

That is the environment, then the profile in ``~/.aws``; roles of containers and machines are found by obstore. A
profile that needs more than keys (a role, SSO, a program) is left to boto3.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from obstore.store import S3Store

from packyard.core.errors import Problem, UnavailableError, shown
from packyard.sharing.stores import bucket
from packyard.sharing.stores import endpoint as endpoints
from packyard.sharing.stores.bucket import BucketStore, Identity
from packyard.sharing.stores.bucket_address import BucketAddress
from packyard.sharing.stores.network import authorities, check_authorities
from packyard.sharing.stores.store import PATIENCE

#: Any of these says that the profile's credentials are not wanted, and who is asking then; the first that is set.
_GIVEN = {
    "AWS_ACCESS_KEY_ID": "the key in AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE": "the role of AWS_WEB_IDENTITY_TOKEN_FILE",
}
_KEYS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
_OF_BOTO3 = ("role_arn", "sso_session", "sso_start_url", "login_session", "credential_process")
_TRUE = ("1", "true", "on", "yes", "y")  # as obstore reads it, in upper case too
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_HOME_SECONDS = 10.0
_REGION = re.compile(r"[a-z0-9-]{1,40}")
#: Says that each bucket has a host of its own; in a profile, that is a line below ``s3``.
_VIRTUAL = "AWS_VIRTUAL_HOSTED_STYLE_REQUEST"
_STYLE = re.compile(r"^\s*addressing_style\s*=\s*virtual\s*$", re.MULTILINE)


def open_s3(text: str, *, patience: float = PATIENCE) -> BucketStore:
    """Open the store at an address; nothing is asked of the server yet, and nothing promised."""
    address = BucketAddress.parse(text, "write s3://bucket/path")
    profile = endpoints.profile(os.environ)
    endpoint = endpoints.s3(profile)
    region = endpoints.first(*_REGIONS) or profile.get("region") or "us-east-1"
    settings, used = _credentials(address.secrets(endpoint), profile)
    endpoint, own_host = _host(endpoint, address.bucket, profile)
    settings |= {"region": region, "disable_bulk_delete": True, **own_host}
    settings |= bucket.client(patience, endpoint, _authorities(profile))
    made = bucket.opened(partial(S3Store, address.bucket, prefix=address.prefix or None, **settings), str(address))
    identity = Identity(
        used=used,
        look=f"see what that may do: aws s3 ls {address}/",
        region=region,
        home=partial(_home, f"{endpoint or 'https://s3.amazonaws.com'}/{address.bucket}"),
    )
    return BucketStore(
        address=str(address), is_conditional=False, open=lambda: made, identity=identity, patience=patience
    )


def _credentials(own: tuple[str, str] | None, profile: Mapping[str, str]) -> tuple[dict[str, Any], str]:
    """Return obstore's settings for who is asking, and that in words; what is in the environment it reads itself."""
    if own:  # as settings they would be mixed with what the environment has
        keys = {"access_key_id": own[0], "secret_access_key": own[1], "token": None, "expires_at": None}
        return {"credential_provider": lambda: keys}, "the keys in the address"
    if os.environ.get("AWS_SKIP_SIGNATURE", "").lower() in _TRUE:
        return {}, "nobody, as AWS_SKIP_SIGNATURE says"
    for variable, words in _GIVEN.items():
        if os.environ.get(variable):
            return {}, words
    named = f"the profile {shown(endpoints.profile_name(os.environ), quoted=True)}"
    if all(name in profile for name in _KEYS[:2]) and "role_arn" not in profile:
        return {name.removeprefix("aws_"): profile[name] for name in _KEYS if name in profile}, named
    if any(name in profile for name in _OF_BOTO3):
        return {"credential_provider": _boto3()}, named
    return {}, "the role of this container or machine"


def _host(endpoint: str, name: str, profile: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """Return the server, and obstore's setting if each bucket has a host of its own there."""
    style = os.environ.get(_VIRTUAL) or ("true" if _STYLE.search(profile.get("s3", "")) else "false")
    if style.lower() not in _TRUE:
        return endpoint, {}
    scheme, _, host = endpoint.partition("://")
    if host and not host.startswith(f"{name}."):
        endpoint = f"{scheme}://{name}.{host}"
    return endpoint, {"virtual_hosted_style_request": True}


def _authorities(profile: Mapping[str, str]) -> str | None:
    """Return the file of authorities that variables, else the profile, name."""
    own = profile.get("ca_bundle")
    if not own or os.environ.get("AWS_CA_BUNDLE"):
        return authorities("AWS_CA_BUNDLE")
    check_authorities(own, "ca_bundle of the AWS profile")
    return own


def _home(url: str) -> str:
    """Return the region that a bucket says it is in, to whoever asks; an empty text where none is said."""
    from packyard.sharing.stores.client import Client, Request

    try:
        answer = Client(_HOME_SECONDS).ask(Request(method="HEAD", url=url, place=url, limit=0))
    except UnavailableError:  # what the bucket itself answered is told
        return ""
    region = answer.headers.get("x-amz-bucket-region", "")
    return region if _REGION.fullmatch(region) else ""


def _boto3() -> Any:
    try:
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError:
        problem = "the AWS profile has a role, SSO or a program for its keys, which needs boto3"
        raise UnavailableError(Problem(problem, hint="install boto3, or set AWS_ACCESS_KEY_ID")) from None
    try:
        return Boto3CredentialProvider()
    except Exception:  # boto3 has many
        hint = "try 'aws sts get-caller-identity', or log in"
        raise UnavailableError(Problem("boto3 finds no credentials for the AWS profile", hint=hint)) from None
