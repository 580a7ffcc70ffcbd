"""Which server the environment says that an address in a bucket means: the usual variables of each cloud."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packyard.core.errors import InputError, Problem

_AZURE = ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT")
_S3 = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_PROFILES = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")
_ACCOUNTS = ("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME")


def endpoint(address: str) -> str:
    """Return the URL of the server that an address needs the environment for; empty for AWS, Google and all others."""
    match address.partition("://")[0].lower():
        case "s3":
            return s3(profile())
        case "gs":
            return gcs()
        case "az" | "azure":
            account = first(*_ACCOUNTS)
            return azure() or (f"https://{account}.blob.core.windows.net" if account else "")
    return ""


def s3(profile: Mapping[str, Any]) -> str:
    """Return the server of S3 that is not AWS, if one is set, there or in a profile."""
    return first(*_S3) or str(profile.get("endpoint_url", ""))


def gcs() -> str:
    """Return the emulator of Google's storage, if one is set."""
    host = first("STORAGE_EMULATOR_HOST")
    return (host if not host or "://" in host else f"http://{host}").rstrip("/")


def azure() -> str:
    """Return the server of Azure's blobs that a variable names, if one does."""
    return first(*_AZURE)


def first(*variables: str) -> str:
    """Return the first of these variables that is set, or an empty text."""
    return next((os.environ[name] for name in variables if os.environ.get(name)), "")


def profile() -> Mapping[str, Any]:
    """Return the settings of AWS's profile that is chosen, as AWS's own library reads them; none without it."""
    if not any(map(os.environ.get, _PROFILES)) and not Path("~/.aws").expanduser().is_dir():
        return {}
    try:
        from botocore.exceptions import BotoCoreError
        from botocore.session import Session  # takes long to import
    except ImportError:
        return {}
    try:
        settings: Mapping[str, Any] = Session().get_scoped_config()
        return settings
    except BotoCoreError as error:
        raise InputError(Problem(f"AWS profile: {error}", hint="see AWS_PROFILE, and ~/.aws/config")) from None
