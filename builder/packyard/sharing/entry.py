"""An entry of an index: what a reader needs to choose a published bundle, to fetch and to check it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from packyard.core.bundle import manifest, record, reference
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.record import checked, in_json, list_of, map_of, text
from packyard.core.digest import Digest

#: How the keys of what is known of a bundle end, behind that of the bundle.
CHECKSUM, PROVENANCE, SBOM = ".sha256", ".intoto.json", ".spdx.json"
SIGSTORE = ".sigstore.json"

_README = "README.md"
_DESCRIPTION = 300  # characters
_NEEDS = ("CustomResourceDefinition", "Resource", "CSIDriver")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """A published bundle.

    ``tar`` is the digest of the uncompressed tar, the bundle's identity; ``digest`` and ``size`` are those of the
    ``.tar.gz``. ``use_cases`` are the directories that can be deployed, ``model`` the facts of its package.yaml,
    ``description`` how its README begins. ``yanked`` is the reason why nobody should use it any more, if there is one;
    ``removed`` the reason why its bundle is gone: then the version never comes again.
    ``kind`` is empty but for a library. ``needs`` are what clusters may be without: kinds, resources and drivers that
    a use case requires, as ``mpijobs.kubeflow.org`` or ``nvidia.com/gpu``; those of earlier releases have none.
    """

    name: str = field(metadata=in_json(checked(reference.check_name)))
    version: str = field(metadata=in_json(checked(reference.check_version)))
    tar: Digest = field(metadata=in_json(record.digest))
    digest: Digest = field(metadata=in_json(record.digest))
    size: int = field(metadata=in_json(record.size))
    use_cases: tuple[str, ...] = field(default=(), metadata=in_json(list_of(text)))
    model: Mapping[str, str] = field(default_factory=dict, metadata=in_json(map_of(text)))
    kind: str = field(default="", metadata=in_json(text, ""))
    needs: tuple[str, ...] = field(default=(), metadata=in_json(list_of(text), ()))
    description: str = field(default="", metadata=in_json(text, "", always=True))
    yanked: str = field(default="", metadata=in_json(text, "", always=True))
    removed: str = field(default="", metadata=in_json(text, ""))
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key of its ``.tar.gz``."""
        return bundle_key(self.name, self.version)

    @property
    def checksum(self) -> bytes:
        """The one line of its ``.sha256``, for ``sha256sum -c``."""
        return f"{self.digest.hex}  {self.name}.tar.gz\n".encode()

    def beside(self, end: str) -> str:
        """Return the key of what is known of it, by its end."""
        return self.key + end

    @classmethod
    def of(cls, bundle: Bundle) -> "IndexEntry":
        """Describe ``bundle``."""
        is_package = bundle.manifest.kind == manifest.BUNDLE
        return cls(
            name=bundle.manifest.name,
            version=bundle.manifest.version,
            tar=bundle.tar,
            digest=Digest.of(bundle.data),
            size=len(bundle.data),
            use_cases=tuple(sorted(bundle.manifest.deployed())) if is_package else (),
            kind="" if is_package else bundle.manifest.kind,
            needs=_needs(bundle) if is_package else (),
            model=dict(bundle.manifest.model),
            description=_description(bundle),
        )

    def document(self) -> dict[str, object]:
        """Return its JSON."""
        return dict(record.document(self))

    def facts(self) -> str:
        """Return what follows from the bundle alone, as registries keep it beside the bundle."""
        fields = {name: value for name, value in self.document().items() if name not in ("yanked", "removed")}
        return record.to_line(fields).decode().strip()

    def is_same_file(self, entry: "IndexEntry") -> bool:
        """Return whether both list the same file under the same name and version."""
        return (self.name, self.version, self.tar, self.digest) == (entry.name, entry.version, entry.tar, entry.digest)

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


def bundle_key(name: str, version: str) -> str:
    """Return the key of a bundle: the address that users type, below that of the channel."""
    return f"{version}/{name}.tar.gz"


def _needs(bundle: Bundle) -> tuple[str, ...]:
    required = {text.partition(" ") for use_case in bundle.manifest.use_cases.values() for text in use_case.requires}
    return tuple(sorted({name for kind, _, name in required if kind in _NEEDS}))


def _description(bundle: Bundle) -> str:
    """Return the title of a bundle's README and the first sentences below it, as one line of limited length."""
    readme = next((member.data for member in bundle.members if member.path == _README), b"")
    top = readme.decode("utf-8", "replace").replace("\r\n", "\n").partition("\n## ")[0]
    paragraphs = [part.strip() for part in top.split("\n\n")]
    title = paragraphs[0].removeprefix("# ") if paragraphs[0].startswith("# ") else ""
    prose = next((part for part in paragraphs if part and part[0].isalnum()), "")
    text = " ".join(": ".join(filter(None, (title, prose))).split())
    if len(text) <= _DESCRIPTION:
        return text
    whole, stop, _ = text[:_DESCRIPTION].rpartition(". ")
    return f"{whole}." if stop else text[: _DESCRIPTION - 1] + "…"
