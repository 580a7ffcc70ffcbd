"""Buckets of S3: ``s3://bucket/prefix``, and where AWS's own tools find credentials, region and endpoint.

That is the environment, then the profile in ``~/.aws``; roles of containers and machines are found by obstore. A
profile that needs more than keys or a ``credential_process`` (a role, SSO) is left to boto3.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from obstore.store import S3Store

from packyard.core.errors import InputError, Problem, UnavailableError, shown
from packyard.sharing.stores import bucket
from packyard.sharing.stores import endpoint as endpoints
from packyard.sharing.stores.bucket import BucketStore, Identity, Tries
from packyard.sharing.stores.bucket_address import BucketAddress
from packyard.sharing.stores.network import authorities, check_authorities
from packyard.sharing.stores.store import PATIENCE

_HINT = "write s3://bucket/path"
#: Any of these says that the profile's credentials are not wanted, and who is asking then; the first that is set.
_GIVEN = {
    "AWS_ACCESS_KEY_ID": "the key in AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE": "the role of AWS_WEB_IDENTITY_TOKEN_FILE",
}
_UNSIGNED = "AWS_SKIP_SIGNATURE"
#: As obstore reads it, in upper case too.
_TRUE, _FALSE = ("1", "true", "on", "yes", "y"), ("0", "false", "off", "no", "n")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_PROCESS_SECONDS, _HOME_SECONDS = 60.0, 10.0
_AWS = "https://s3.amazonaws.com"
_REGION = re.compile(r"[a-z0-9-]{1,40}")
#: Says that each bucket has a host of its own; in a profile, that is a line below ``s3``.
_VIRTUAL = "AWS_VIRTUAL_HOSTED_STYLE_REQUEST"
_STYLE = re.compile(r"^\s*addressing_style\s*=\s*virtual\s*$", re.MULTILINE)


Credentials = dict[str, Any]
"""What obstore takes from a provider of credentials."""


def open_s3(text: str, *, patience: float = PATIENCE, tries: Tries = bucket.USUAL) -> BucketStore:
    """Open the store at an address; nothing is asked of the server yet, and nothing promised."""
    address = BucketAddress.parse(text, _HINT)
    profile = endpoints.profile(os.environ)
    endpoint = endpoints.s3(profile)
    settings: dict[str, Any] = {"region": endpoints.first(*_REGIONS) or profile.get("region") or "us-east-1"}
    used = next((who for name, who in _GIVEN.items() if os.environ.get(name)), "")
    if _is_unsigned():
        used = f"nobody, as {_UNSIGNED} says"
    if credentials := address.secrets(endpoint):
        settings["credential_provider"] = partial(_static, *credentials)
        used = "the keys in the address"
    elif not used and (own := _of_profile(profile)):
        settings |= own
        used = f"the profile {shown(endpoints.profile_name(os.environ), quoted=True)}"
    used = used or "the role of this container or machine"
    endpoint, own_host = _host(endpoint, address.bucket, profile)
    settings |= bucket.client(patience, tries, endpoint, _authorities(profile)) | own_host
    prefix = address.prefix or None
    made = bucket.opened(
        lambda: S3Store(address.bucket, prefix=prefix, disable_bulk_delete=True, **settings), str(address)
    )
    return BucketStore(
        address=str(address),
        is_conditional=False,
        open=lambda: made,
        identity=Identity(
            used=used,
            look=f"see what that may do: aws s3 ls {address}/",
            region=settings["region"],
            home=partial(_home, f"{endpoint or _AWS}/{address.bucket}"),
        ),
        patience=patience,
        tries=tries,
    )


def _is_unsigned() -> bool:
    """Say whether requests go without a signature, as for a bucket that anybody may read."""
    word = os.environ.get(_UNSIGNED, _FALSE[0])
    if word.lower() not in _TRUE + _FALSE:
        raise InputError(
            Problem(f"{_UNSIGNED} is {shown(word, quoted=True)}", hint="set it to true or false, or unset it")
        )
    return word.lower() in _TRUE


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
    from packyard.sharing.stores import client as web

    try:
        answer = web.Client(_HOME_SECONDS).ask(web.Request(method="HEAD", url=url, place=url, limit=0))
    except UnavailableError:  # what the bucket itself answered is told
        return ""
    region = answer.headers.get("x-amz-bucket-region", "")
    return region if _REGION.fullmatch(region) else ""


def _static(key: str, secret: str) -> Credentials:
    """Return the keys of an address; as settings they would be mixed with what the environment has."""
    return {"access_key_id": key, "secret_access_key": secret, "token": None, "expires_at": None}


def _of_profile(profile: Mapping[str, str]) -> dict[str, Any]:
    """Return obstore's settings for the credentials of a profile; none, if it has none."""
    if "aws_access_key_id" in profile and "aws_secret_access_key" in profile and "role_arn" not in profile:
        names = {"aws_access_key_id", "aws_secret_access_key", "aws_session_token"} & profile.keys()
        return {name.removeprefix("aws_"): profile[name] for name in names}
    if command := profile.get("credential_process"):
        return {"credential_provider": lambda: _of_process(command)}
    if any(name in profile for name in ("role_arn", "sso_session", "sso_start_url", "login_session")):
        return {"credential_provider": _boto3()}
    return {}


def _of_process(command: str) -> Credentials:
    """Run what a profile names for its credentials."""
    try:
        words = shlex.split(command)
        process = subprocess.run(words, capture_output=True, check=True, timeout=_PROCESS_SECONDS)
        answer = json.loads(process.stdout)
        expires = answer.get("Expiration")
        return {
            "access_key_id": answer["AccessKeyId"],
            "secret_access_key": answer["SecretAccessKey"],
            "token": answer.get("SessionToken"),
            "expires_at": datetime.fromisoformat(expires.replace("Z", "+00:00")) if expires else None,
        }
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, AttributeError):
        problem = "the credential_process of the AWS profile fails, or prints no credentials"
        raise UnavailableError(Problem(problem, hint="run it by hand to see why")) from None


def _boto3() -> Callable[[], Any]:
    try:
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError:
        problem = "the AWS profile has a role or SSO, which needs boto3"
        raise UnavailableError(Problem(problem, hint="install boto3, or set AWS_ACCESS_KEY_ID")) from None
    try:
        provider: Callable[[], Any] = Boto3CredentialProvider()
    except Exception:  # boto3 has many
        hint = "try 'aws sts get-caller-identity', or log in"
        raise UnavailableError(Problem("boto3 finds no credentials for the AWS profile", hint=hint)) from None
    return provider
