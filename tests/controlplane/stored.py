"""What objects of a cluster say of themselves, and a volume for a claim."""

from controlplane.api import Object


def condition(item: Object, name: str) -> Object:
    """Return a condition that holds of an object, else an empty one."""
    found = item.get("status", {}).get("conditions") or []
    return next((each for each in found if each["type"] == name and each["status"] == "True"), {})


def phase(item: Object) -> str:
    return str(item.get("status", {}).get("phase", ""))


def volume(namespace: str, claim: Object) -> Object:
    """Return a volume for a claim and no other."""
    spec, name = claim["spec"], claim["metadata"]["name"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{namespace}-{name}"},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": spec["resources"]["requests"],
            "claimRef": {"namespace": namespace, "name": name},
            "csi": {"driver": "test.csi.example", "volumeHandle": name},
            "storageClassName": spec.get("storageClassName", ""),
        },
    }
