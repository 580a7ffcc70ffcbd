"""Which server the environment says that an address in a bucket means: the usual variables of each cloud."""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from pathlib import Path

from packyard.core.errors import InputError, Problem

_CONNECTION = "AZURE_STORAGE_CONNECTION_STRING"
_AZURE = ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT")
_S3 = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_PROFILES = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE")
_ACCOUNTS = ("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME")


def endpoint(address: str) -> str:
    """Return the URL of the server that an address needs the environment for; empty for AWS, Google and all others."""
    match address.partition("://")[0].lower():
        case "s3":
            return s3(profile(os.environ))
        case "gs":
            return gcs()
        case "az" | "azure":
            account = connection().get("AccountName") or first(*_ACCOUNTS)
            return azure() or (f"https://{account}.blob.core.windows.net" if account else "")
    return ""


def s3(profile: Mapping[str, str]) -> str:
    """Return the server of S3 that is not AWS, if one is set, there or in a profile."""
    return first(*_S3) or profile.get("endpoint_url", "")


def gcs() -> str:
    """Return the emulator of Google's storage, if one is set."""
    host = first("STORAGE_EMULATOR_HOST")
    return (host if not host or "://" in host else f"http://{host}").rstrip("/")


def azure() -> str:
    """Return the server of Azure's blobs that a variable names, if one does."""
    fields = connection()
    server = fields.get("BlobEndpoint", "")
    if not server and "EndpointSuffix" in fields:
        protocol = fields.get("DefaultEndpointsProtocol", "https")
        server = f"{protocol}://{fields['AccountName']}.blob.{fields['EndpointSuffix']}"
    return server or first(*_AZURE)


def connection() -> Mapping[str, str]:
    """Return the fields of Azure's connection string; none if there is none."""
    text = os.environ.get(_CONNECTION, "")
    fields = dict(part.split("=", 1) for part in text.split(";") if "=" in part)
    if text and not ("AccountName" in fields or "BlobEndpoint" in fields):
        raise InputError(Problem("is not a connection string", file=_CONNECTION, hint="see 'az storage account'"))
    return fields


def first(*variables: str) -> str:
    """Return the first of these variables that is set, or an empty text."""
    return next((os.environ[name] for name in variables if os.environ.get(name)), "")


def profile_name(environment: Mapping[str, str]) -> str:
    """Return which of AWS's profiles is chosen."""
    return next(filter(None, map(environment.get, _PROFILES)), "default")


def profile(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the settings of AWS's profile that is chosen, those of the credentials file first."""
    name = profile_name(environment)
    settings: dict[str, str] = {}
    for variable, file, section in (
        ("AWS_CONFIG_FILE", "~/.aws/config", name if name == "default" else f"profile {name}"),
        ("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials", name),
    ):
        path = Path(environment.get(variable) or file).expanduser()
        parser = configparser.RawConfigParser(strict=False, default_section="")
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            raise InputError(Problem("is not a file of AWS profiles", file=str(path), hint="repair it")) from None
        if parser.has_section(section):
            settings |= parser[section]
    if not settings and any(map(environment.get, _PROFILES)):
        raise InputError(Problem(f"there is no AWS profile '{name}'", hint="see AWS_PROFILE, and ~/.aws/config"))
    return settings
