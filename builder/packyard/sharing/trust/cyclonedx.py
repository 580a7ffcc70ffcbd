"""The SBOM of a bundle in its second form, CycloneDX 1.6 JSON (https://cyclonedx.org/docs/1.6/json/), from the SPDX."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from packyard.core.bundle import record

_ROOT = "package"


def to_bytes(spdx: bytes) -> bytes:
    """Return the same SBOM as CycloneDX; the same SPDX gives the same bytes."""
    document = json.loads(spdx)
    package, *images = document["packages"]
    root = {"type": "application", "bom-ref": _ROOT, **_named(package)}
    containers = [_container(each) for each in images]
    depends = {"ref": _ROOT, "dependsOn": sorted(each["bom-ref"] for each in containers)}
    return record.to_bytes(
        {
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, document['documentNamespace'])}",
            "version": 1,
            "metadata": {
                "timestamp": document["creationInfo"]["created"],
                "tools": {"components": [{"type": "application", "name": "packyard"}]},
                "component": root,
            },
            "components": [*(_file(each) for each in document["files"]), *containers],
            "dependencies": [depends, *({"ref": each["bom-ref"]} for each in containers)],
        }
    )


def _named(package: Mapping[str, Any]) -> dict[str, Any]:
    fields = {"name": package["name"], "version": package.get("versionInfo", "")}
    if "supplier" in package:
        fields["supplier"] = {"name": package["supplier"].partition(": ")[2]}
    return fields


def _container(image: Mapping[str, Any]) -> dict[str, Any]:
    (reference,) = image["externalRefs"]
    named = {"type": "container", "bom-ref": image["SPDXID"], **_named(image), "purl": reference["referenceLocator"]}
    return {**named, **_hashes(image)}


def _file(file: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "file", "bom-ref": file["SPDXID"], "name": file["fileName"], **_hashes(file)}


def _hashes(item: Mapping[str, Any]) -> dict[str, Any]:
    names = {"SHA1": "SHA-1", "SHA256": "SHA-256"}
    hashes = [{"alg": names[each["algorithm"]], "content": each["checksumValue"]} for each in item.get("checksums", ())]
    return {"hashes": hashes} if hashes else {}
