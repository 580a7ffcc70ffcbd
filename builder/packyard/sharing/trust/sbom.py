"""The SBOM of a bundle: the images that its pods run, as SPDX 2.3 JSON (https://spdx.github.io/spdx-spec/).

A bundle has one SBOM, the same bytes on every machine: its time is that of the archive's files, which packyard.json
lists. The workspace supplies the package, the owner of its namespace an image.
"""

from datetime import UTC, datetime
from urllib.parse import quote

from packyard.core.bundle import record, tar
from packyard.core.bundle.bundle import Bundle
from packyard.core.kubernetes import images

_DOCUMENT, _PACKAGE = "SPDXRef-DOCUMENT", "SPDXRef-Package"
_UNSAID = "NOASSERTION"
_TIME = datetime.fromtimestamp(tar.MTIME, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def to_bytes(bundle: Bundle, supplier: str = "") -> bytes:
    """Return the SBOM of a bundle; ``supplier`` is the organization that publishes it."""
    name, version = bundle.manifest.name, bundle.manifest.version
    containers = [_image(number, image) for number, image in enumerate(bundle.manifest.images, start=1)]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": _DOCUMENT,
        "name": f"{name}-{version}",
        "documentNamespace": f"urn:packyard:{name}:{quote(version, safe='')}:{bundle.tar.hex}",
        "creationInfo": {"created": _TIME, "creators": ["Tool: packyard"]},
        "packages": [_package(_PACKAGE, name, version, supplier), *containers],
        "relationships": [
            _related(_DOCUMENT, "DESCRIBES", _PACKAGE),
            *(_related(_PACKAGE, "DEPENDS_ON", str(image["SPDXID"])) for image in containers),
        ],
    }
    return record.to_bytes(document)


def _package(identifier: str, name: str, version: str, supplier: str) -> dict[str, object]:
    return {
        "SPDXID": identifier,
        "name": name,
        "versionInfo": version,
        "supplier": f"Organization: {supplier}" if supplier else _UNSAID,
        "filesAnalyzed": False,
        **dict.fromkeys(("downloadLocation", "licenseDeclared", "licenseConcluded", "copyrightText"), _UNSAID),
    }


def _image(number: int, image: str) -> dict[str, object]:
    named = images.parse(image)
    repository, tag, digest = named.name, named.tag, named.digest
    supplier = repository.rpartition("/")[0] or "docker.io/library"
    fields = _package(f"SPDXRef-Image-{number}", repository, digest or tag or "latest", supplier)
    if digest:
        fields["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest.partition(":")[2]}]
    query = [f"repository_url={quote(repository, safe='')}", *([f"tag={quote(tag, safe='')}"] if tag else [])]
    locator = f"pkg:oci/{quote(repository.rpartition('/')[2].lower(), safe='')}"
    locator += (f"@{quote(digest, safe='')}" if digest else "") + f"?{'&'.join(query)}"
    reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}
    return {**fields, "primaryPackagePurpose": "CONTAINER", "externalRefs": [reference]}


def _related(subject: str, how: str, related: str) -> dict[str, str]:
    return {"spdxElementId": subject, "relationshipType": how, "relatedSpdxElement": related}
