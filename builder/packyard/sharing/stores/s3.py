"""Buckets of S3: ``s3://bucket/prefix``, and where AWS's own tools find credentials, region and endpoint.

That is the environment, then the profile in ``~/.aws``, which boto3 reads; roles of containers and machines are found
by obstore.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from obstore.store import S3Store

from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.sharing.stores import bucket
from packyard.sharing.stores.bucket import BucketStore, first
from packyard.sharing.stores.network import authorities, check_authorities

#: Any of these says that the profile's credentials are not wanted.
_GIVEN = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE")
_TRUE = ("1", "true", "on", "yes", "y")  # as obstore reads it, in upper case too
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_PROFILES = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")
_REGION = re.compile(r"[a-z0-9-]{1,40}")
#: Says that each bucket has a host of its own; in a profile, that is a setting of ``s3``.
_VIRTUAL = "AWS_VIRTUAL_HOSTED_STYLE_REQUEST"


def open_s3(address: str) -> BucketStore:
    """Open the store at an address; nothing is asked of the server yet, and nothing promised."""
    name, prefix = bucket.parse(address)
    profile = _profile()
    server = first(*_ENDPOINTS) or str(profile.get("endpoint_url", ""))
    endpoint, own_host = _host(server, name, profile)
    region = first(*_REGIONS) or profile.get("region") or "us-east-1"
    trusted = authorities("AWS_CA_BUNDLE")
    if trusted is None and (trusted := profile.get("ca_bundle")):
        check_authorities(trusted, "ca_bundle of the AWS profile")
    settings: dict[str, Any] = {"region": region, "disable_bulk_delete": True, "prefix": prefix or None, **own_host}
    settings |= bucket.client(endpoint, trusted)
    made = bucket.opened(lambda: S3Store(name, **settings, **_credentials(profile)), address)
    return BucketStore(
        address=address.rstrip("/"),
        is_conditional=False,
        open=lambda: made,
        look=f"see what you may do there: aws s3 ls {address.rstrip('/')}/",
        region=region,
        home=partial(_home, f"{server or 'https://s3.amazonaws.com'}/{name}"),
    )


def _profile() -> Mapping[str, Any]:
    """Return the settings of the profile that is chosen, as AWS's own library reads them; none without it."""
    if not any(map(os.environ.get, _PROFILES)) and not Path("~/.aws").expanduser().is_dir():
        return {}
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session  # takes long to import

    try:
        settings: Mapping[str, Any] = Session().get_scoped_config()
        return settings
    except BotoCoreError as error:
        raise InputError(Problem(f"AWS profile: {error}", hint="see AWS_PROFILE, and ~/.aws/config")) from None


def _credentials(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return obstore's settings for who is asking; what is in the environment, and roles, it finds itself."""
    is_unsigned = os.environ.get("AWS_SKIP_SIGNATURE", "").lower() in _TRUE
    if not profile or is_unsigned or any(map(os.environ.get, _GIVEN)):
        return {}
    from botocore.session import Session
    from obstore.auth.boto3 import Boto3CredentialProvider

    with suppress(ValueError):  # the profile has no credentials
        return {"credential_provider": Boto3CredentialProvider(Session())}
    return {}


def _host(endpoint: str, name: str, profile: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the server, and obstore's setting if each bucket has a host of its own there."""
    style = os.environ.get(_VIRTUAL) or str(profile.get("s3", {}).get("addressing_style") == "virtual")
    if style.lower() not in _TRUE:
        return endpoint, {}
    scheme, _, host = endpoint.partition("://")
    if host and not host.startswith(f"{name}."):
        endpoint = f"{scheme}://{name}.{host}"
    return endpoint, {"virtual_hosted_style_request": True}


def _home(url: str) -> str:
    """Return the region that a bucket says it is in, to whoever asks; an empty text where none is said."""
    from packyard.sharing.stores.client import Client, Request

    try:
        answer = Client().ask(Request(method="HEAD", url=url, place=url, limit=0))
    except UnavailableError:  # what the bucket itself answered is told
        return ""
    region = answer.headers.get("x-amz-bucket-region", "")
    return region if _REGION.fullmatch(region) else ""
