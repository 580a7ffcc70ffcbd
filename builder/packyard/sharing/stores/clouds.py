"""Buckets of S3, Google and Azure: their addresses, and where each cloud's own tools find credentials.

    s3://bucket/prefix       the environment, then the profile in ``~/.aws``, which boto3 reads; roles of containers and
                             machines are found by obstore
    gs://bucket/prefix       Google's application default credentials, which google-auth finds and renews; without any,
                             what is public can be read; an emulator, STORAGE_EMULATOR_HOST, is asked without
    az://container/prefix    the environment, which obstore reads: keys, shared access signatures, service principals,
                             workload and managed identities; but for the two short names of the ``az`` command

Nothing is asked of a server when a store is opened.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

from obstore.store import AzureStore, GCSStore, ObjectStore, S3Store

from packyard.core.errors import InputError, PackyardError, Problem, UnavailableError
from packyard.sharing.stores import bucket
from packyard.sharing.stores.bucket import BucketStore
from packyard.sharing.stores.network import authorities, check_authorities
from packyard.sharing.stores.store import is_key, patience

_BUCKET = re.compile(r"[A-Za-z0-9$][A-Za-z0-9._-]*")
_ENDPOINT = re.compile(r"https?://[^/?#\s]+(/[^?#\s]*)?")
_SETTINGS = "check the environment variables and files that hold them"

#: Any of these says that the profile's credentials are not wanted.
_GIVEN = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE")
_TRUE = ("1", "true", "on", "yes", "y")  # as obstore reads it, in upper case too
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_PROFILES = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")
_REGION = re.compile(r"[a-z0-9-]{1,40}")
#: Says that each bucket has a host of its own; in a profile, that is a setting of ``s3``.
_VIRTUAL = "AWS_VIRTUAL_HOSTED_STYLE_REQUEST"

_GOOGLE = "https://storage.googleapis.com"
_SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
_LOGIN = "log in: gcloud auth application-default login, or GOOGLE_APPLICATION_CREDENTIALS"

_SHORT = {"AZURE_STORAGE_ACCOUNT": "account_name", "AZURE_STORAGE_KEY": "account_key"}


def open_s3(address: str) -> BucketStore:
    """Open a bucket of AWS, which promises all, or of another server of S3, which promises nothing."""
    name, prefix = _parse(address)
    profile, who = _profile()
    server = _first(*_ENDPOINTS) or str(profile.get("endpoint_url", ""))
    endpoint, own_host = _host(server, name, profile)
    region = _first(*_REGIONS) or profile.get("region") or "us-east-1"
    trusted = authorities("AWS_CA_BUNDLE")
    if trusted is None and (trusted := profile.get("ca_bundle")):
        check_authorities(trusted, "ca_bundle of the AWS profile")
    settings: dict[str, Any] = {"region": region, "disable_bulk_delete": True, "prefix": prefix or None, **own_host}
    settings |= _client(endpoint, trusted)
    store = _opened(partial(S3Store, name, **settings, **who), address)
    return BucketStore(
        address=address.rstrip("/"),
        is_conditional=not server,
        open=lambda: store,
        look=f"readers need s3:GetObject and s3:ListBucket; to see what you may: aws s3 ls {address.rstrip('/')}/",
        region=region,
        home=partial(_home, f"{server or 'https://s3.amazonaws.com'}/{name}"),
    )


def _profile() -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the settings of the profile that is chosen, and obstore's for who asks, as AWS's own library reads it.

    What is in the environment, and roles, obstore finds itself.
    """
    if not any(map(os.environ.get, _PROFILES)) and not Path("~/.aws").expanduser().is_dir():
        return {}, {}
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session  # takes long to import
    from obstore.auth.boto3 import Boto3CredentialProvider

    session, who = Session(), dict[str, Any]()
    try:
        settings: Mapping[str, Any] = session.get_scoped_config()
        is_unsigned = os.environ.get("AWS_SKIP_SIGNATURE", "").lower() in _TRUE
        if settings and not is_unsigned and not any(map(os.environ.get, _GIVEN)):
            with suppress(ValueError):  # the profile has no credentials
                who["credential_provider"] = Boto3CredentialProvider(session)
    except BotoCoreError as error:
        raise InputError(Problem(f"AWS profile: {error}", hint="see AWS_PROFILE, and ~/.aws/config")) from None
    return settings, who


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


def open_gcs(address: str, *, host: str = _GOOGLE) -> BucketStore:
    """Open a bucket of Google, whose preconditions on generations hold when many write."""
    from google.auth import default
    from obstore.auth.google import GoogleCredentialProvider

    name, prefix = _parse(address)
    emulator = os.environ.get("STORAGE_EMULATOR_HOST", "").rstrip("/")
    emulator = emulator if not emulator or "://" in emulator else f"http://{emulator}"
    settings = {**_client(emulator or host), "prefix": prefix or None}
    place = settings.pop("endpoint")

    @cache  # when it is wanted first: to find credentials, google-auth may have to ask this machine
    def opened() -> ObjectStore:
        who: dict[str, Any] = {"base_url": place}
        if own := None if emulator else _google_credentials(default):
            who["credential_provider"] = GoogleCredentialProvider(own)
        else:  # `skip_signature` alone asks this machine for credentials all the same, to write
            nobody = {"gcs_base_url": place, "disable_oauth": True}
            nobody |= dict.fromkeys(("client_email", "private_key", "private_key_id"), "")
            who = {"service_account_key": json.dumps(nobody)}
        return _opened(partial(GCSStore, name, **settings, **who), address)

    return BucketStore(address=address.rstrip("/"), is_conditional=True, open=opened, look=_LOGIN)


def _google_credentials(default: Callable[..., tuple[Any, ...]]) -> Any:
    from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError

    try:
        return default(scopes=[_SCOPE])[0]
    except (GoogleAuthError, OSError, ValueError) as error:
        if isinstance(error, DefaultCredentialsError) and not os.environ.get("GOOGLE_APPLICATION_CREDENTIALS"):
            return None
        raise UnavailableError(Problem("Google's credentials cannot be read", hint=_LOGIN)) from None


def open_azure(address: str) -> BucketStore:
    """Open a container of Azure, which promises all."""
    container, prefix = _parse(address)
    settings: dict[str, Any] = {name: os.environ[short] for short, name in _SHORT.items() if os.environ.get(short)}
    settings |= {**_client(_first("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT")), "prefix": prefix or None}
    store = _opened(partial(AzureStore, container, **settings), address)
    look = f"see what you may do there: az storage blob list -c {container}"
    return BucketStore(address=address.rstrip("/"), is_conditional=True, open=lambda: store, look=look)


def _parse(address: str) -> tuple[str, str]:
    """Return the bucket, and the prefix in it, of ``scheme://bucket/prefix``, or refuse that without showing it."""
    scheme, _, rest = address.partition("://")
    name, _, prefix = rest.rstrip("/").partition("/")
    if not _BUCKET.fullmatch(name) or (prefix and not is_key(prefix)):
        hint = f"write {scheme}://bucket/path; keys and passwords are found as the cloud's own tools find them"
        raise InputError(Problem("this must be the address of a channel in a bucket", hint=hint))
    return name, prefix


def _first(*variables: str) -> str:
    """Return the first of these variables of the environment that is set, or an empty text."""
    return next((os.environ[name] for name in variables if os.environ.get(name)), "")


def _client(endpoint: str, trusted: str | None = None) -> dict[str, Any]:
    """Return obstore's settings of how it talks to a server; proxies it takes from the environment itself.

    ``endpoint`` is empty for the cloud's own one. ``trusted`` is a file or folder of certificate authorities, by
    default the one that the environment names.
    """
    if endpoint and not _ENDPOINT.fullmatch(endpoint):
        raise InputError(Problem(f"the endpoint {endpoint!r} must be an address", hint="write https://HOST"))
    options: dict[str, Any] = {
        "allow_http": endpoint.startswith("http://"),
        "connect_timeout": timedelta(seconds=min(10.0, patience())),
        "read_timeout": timedelta(seconds=min(30.0, patience())),
        "timeout": timedelta(seconds=patience()),
    }
    if trusted := trusted or authorities():
        place = Path(trusted)
        files = sorted(path for path in place.iterdir() if path.is_file()) if place.is_dir() else [place]
        options["root_certificate"] = b"\n".join(file.read_bytes() for file in files)
    retries = {"max_retries": bucket.ATTEMPTS, "retry_timeout": timedelta(seconds=patience() / 2)}
    return {**({"endpoint": endpoint} if endpoint else {}), "client_options": options, "retry_config": retries}


def _opened(make: Callable[[], ObjectStore], address: str) -> ObjectStore:
    """Return a bucket of obstore, or refuse its settings."""
    try:
        return make()
    except PackyardError:
        raise
    except Exception:  # with a text that shows the settings
        problem = Problem("its settings or credentials are incomplete or wrong", file=address, hint=_SETTINGS)
        raise InputError(problem) from None
