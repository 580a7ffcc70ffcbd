"""Which store an address opens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from packyard.core.errors import InputError, UnavailableError
from packyard.sharing.stores import open_store


@pytest.mark.parametrize("address", ["{}", "file://{}", "file://localhost{}"])
def test_a_path_and_a_file_address_are_a_directory(tmp_path: Path, address: str) -> None:
    channel_dir = tmp_path / "my channel"
    open_store(address.format(str(channel_dir).replace(" ", "%20") if "://" in address else channel_dir)).put("a", b"1")
    assert (channel_dir / "a").read_bytes() == b"1"


@pytest.mark.parametrize("address", ["file://server/share", "file://", "file://[", "file:///a%00b"])
def test_a_file_address_of_another_machine_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="names no local directory"):
        open_store(address)


@pytest.mark.parametrize(
    "address",
    [
        *("http://", "http://a:b:c/", "http://[::1/x", "https://u:secret@h/x?y=secret", "ftp://example.com/channel"),
        *("http://user:secret@example.com/x", "http://:secret@10.0.0.1"),  # no password without TLS
        *("s3://", "s3:///x", "s3://a b", "s3://bucket/../x", "s3://bucket/a//b", "s3://bucket/.x", "s3://u@bucket"),
        *("az://", "azure://%00", "gs://", "gs://b/\n", "s3://bucket?secret=1", "az://key:secret@bucket/x"),
        *("oci://", "oci:///x", "oci://h/UPPER", "oci://h/a?b", "oci://h:x/a", "oci://h:0/a", "oci://[::1/a"),
        *("oci://h/a//b", "oci://h/../a", "oci://h/a/%41", "oci://h\n/a", "oci://h/" + "a" * 300, "oci://é/a"),
        "oci+http://user:secret@registry.example/x",
    ],
)
def test_an_address_without_a_meaning_is_refused_without_showing_it(address: str) -> None:
    with pytest.raises(InputError, match=r"the address of a channel|need TLS|an address 'ftp://…' \(use a") as caught:
        open_store(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "meant"),
    [
        *(("s3:/b/zoo", "s3://b/zoo"), ("s3//b", "s3://b"), ("oci:registry.example/x", "oci://registry.example/x")),
        *(
            ("localhost:5000/zoo", "http://localhost:5000/zoo"),
            ("[::1]:80", "http://[::1]:80"),
            ("", "without a value"),
        ),
    ],
)
def test_a_mistyped_address_is_no_folder(
    address: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=re.escape(f"{meant}?")):
        open_store(address)
    if address:
        (tmp_path / address).mkdir(parents=True)
        assert open_store(address).list("") == []


@pytest.mark.parametrize(
    ("address", "library"),
    [("s3://b", "obstore"), ("az://b", "obstore"), ("azure://b", "obstore"), ("gs://b", "google")],
)
def test_a_missing_library_is_named_with_the_command_that_installs_it(
    address: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(sys.modules):
        if name.split(".")[0] == library or name.rpartition(".")[2] in ("clouds", "bucket"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        UnavailableError,
        match=r'what .*:// needs is not installed \(/.* -m pip install "packyard\[cloud\] @ \${PACKYARD_SOURCE:.*}"\)',
    ):
        open_store(address)


def test_what_a_directory_needs_is_there_without_libraries_for_clouds() -> None:
    program = (
        "import sys; sys.modules.update(obstore=None, google=None, requests=None)\n"
        "from packyard.sharing.stores import open_store\n"
        "print(open_store('nowhere').keeps_conditions())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stderr, done.returncode) == ("", 0)
