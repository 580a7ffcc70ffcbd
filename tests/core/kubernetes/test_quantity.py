"""Kubernetes quantities: read exactly, and as kubectl reads them."""

import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from packyard.core.kubernetes import quantity

AMOUNTS = {
    "0": "0",
    "1": "1",
    "-1": "-1",
    "0.5": "1/2",
    ".5": "1/2",
    "1500m": "3/2",
    "1.5k": "1500",
    "1.5Gi": str(3 * 2**29),
    "1e3": "1000",
    **{
        f"1{suffix}": str(Fraction(10) ** power)
        for suffix, power in zip("umkMGTPE", (-6, -3, *range(3, 19, 3)), strict=True)
    },
    **{f"1{suffix}i": str(1024**power) for power, suffix in enumerate("KMGTPE", 1)},
    "12e-2": "12/100",
    "100n": "1/10000000",
    "0.1n": "1/1000000000",
}


@pytest.mark.parametrize(("text", "amount"), AMOUNTS.items())
def test_is_the_amount(text: str, amount: str) -> None:
    assert quantity.parse(text) == Fraction(amount) * 10**9


def test_is_what_kubectl_makes_of_it(kubectl: Path) -> None:
    """kubectl writes a quantity in its canonical form, in which an amount has one spelling."""
    for text in (*AMOUNTS, "", "1K", "1e", "0x1", "1mi", "--1", "1 Gi", "10E", "1.0000000001", "123456.789Ki"):
        command = [kubectl, "create", "quota", "q", f"--hard=cpu={text}", "--dry-run=client"]
        command += ["-o=jsonpath={.spec.hard.cpu}"]
        done = subprocess.run(command, capture_output=True, text=True)
        canonical = done.stdout if done.returncode == 0 else ""
        assert quantity.parse(text) == quantity.parse(canonical), text
