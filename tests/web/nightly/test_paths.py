"""What people do with the page of a channel, typed and clicked."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import urllib.request
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

import real
from controlplane.api import Api
from packyard.sharing.web.page import Page
from sharing import buckets
from tiny import COMMAND, environment, programs_dir
from web.conftest import MNIST, SERVING, Reader, Zoo, with_page

pytestmark = pytest.mark.nightly
TYPES = "types { text/html html; text/css css; text/javascript js; application/json json; } "


def test_finds_packages_as_one_types(reader: Reader, address: str) -> None:
    assert "12 packages" in reader.read(address)
    reader.tab.fill("#q", "vll")
    reader.see("1 package")
    assert reader.tab.locator(".card h2").all_inner_texts() == [SERVING]
    reader.tab.fill("#q", "nobody has this")
    reader.see("No package has all of these")
    reader.tab.click("text=Show all packages")
    reader.see("12 packages")


def test_narrows_by_filters_and_keeps_them_in_the_address(reader: Reader, address: str) -> None:
    reader.read(address)
    reader.tab.select_option("#by-framework", "pytorch")
    reader.see("1 package")
    assert reader.tab.url.endswith("#/?framework=pytorch")
    assert "llm-finetune" in reader.read(f"{address}#/?framework=pytorch")
    reader.tab.select_option("#by-framework", "")
    reader.tab.select_option("#by-storage", "user-mounted-nfs")
    reader.see("packages")
    assert SERVING not in reader.tab.inner_text(".results") or "nfs" in reader.tab.url


def test_says_what_is_newest(reader: Reader, address: str) -> None:
    reader.read(address)
    reader.tab.click("text=What is newest")
    reader.tab.locator(".newest li").first.wait_for()
    assert MNIST in reader.tab.inner_text(".newest")


def test_looks_at_a_package_as_show_does(reader: Reader, address: str, zoo: Zoo) -> None:
    text = reader.read(f"{address}#/{MNIST}")
    shown = json.loads(zoo.packyard("show", MNIST, "--from", zoo.folder, "-o", "json"))[0]
    assert "MultiWorkerMirroredStrategy" in text
    assert shown["version"] in text
    assert shown["digest"] in text
    assert "has the digest that the index gives" in text
    cases = reader.read(f"{address}#/{MNIST}/use")
    for case in shown["useCases"]:
        assert case["description"] in cases
    for option in shown["options"]:
        assert option["name"] in cases


def test_shows_objects_and_lights_the_fields_of_a_parameter(reader: Reader, address: str) -> None:
    reader.read(f"{address}#/{MNIST}/use/quickstart/mlops/multi-node/user-allocated-pvc")
    reader.tab.wait_for_selector(".picture svg rect")
    assert "mounts ConfigMap" in (reader.tab.get_attribute(".picture svg", "aria-label") or "")
    reader.tab.click("button.name:has-text('BATCH_SIZE')")
    lit = reader.tab.locator(".code .line.lit").all_inner_texts()
    assert [line.strip() for line in lit] == ['BATCH_SIZE: "64" # {"$openapi":"BATCH_SIZE"}']


def test_shows_files_with_the_bytes_that_they_have(reader: Reader, address: str, zoo: Zoo, tmp_path: Path) -> None:
    zoo.packyard("get", MNIST, "--from", zoo.folder, "--into", tmp_path)
    file = "quickstart/mlops/first-run/none/job.yaml"
    reader.read(f"{address}#/{MNIST}/files/{file}")
    assert reader.tab.text_content(".code code") == (tmp_path / MNIST / file).read_text()


def test_lists_versions_and_why_one_is_yanked(reader: Reader, address: str) -> None:
    text = reader.read(f"{address}#/{MNIST}/versions")
    assert text.index("1.1.0 (shown)") < text.index("1.0.0")
    assert "its training diverges on two nodes" in text
    assert "1.0.0 is yanked" in reader.read(f"{address}#/{MNIST}@1.0.0")
    reader.tab.click("text=Use 1.1.0")
    reader.see("MNIST FP32 training")
    assert "is yanked" not in reader.tab.inner_text(".package > header")


def test_says_of_removed_versions_why_and_of_a_package_that_has_no_other(
    open_reader: Callable[..., Reader], zoo: Zoo, tmp_path: Path
) -> None:
    copy = zoo.copy(tmp_path / "zoo")
    copy.packyard("yank", "llm-finetune@1.0.0", "--reason", "loses <b>gradients</b>", "--in", copy.folder)
    copy.packyard("publish", MNIST, "--version", "1.0.0", "--close", "--to", copy.folder)
    copy.packyard("gc", copy.folder, "--yanked")
    copy.packyard("web", copy.folder, "--prerender")
    reader = open_reader()
    with real.serve(copy.folder) as address:
        text = reader.read(f"{address}/#/{MNIST}/versions")
        assert text.index("1.1.0 (shown)") < text.index("Removed") < text.index("it was yanked: its training diverges")
        text = reader.read(f"{address}/#/{MNIST}@1.0.0")
        assert f"{MNIST}@1.0.0 was removed: it was yanked: its training diverges on two nodes." in text
        assert "It has 1.1.0." in text
        text = reader.read(f"{address}/#/llm-finetune")
        assert "Every version of llm-finetune was removed." in text
        assert "it was yanked: loses <b>gradients</b>" in text
        assert "llm-finetune" not in reader.read(f"{address}/#/")
        text = reader.read(f"{address}/#/{MNIST}/compare/llm-finetune@1.0.0")
        assert "llm-finetune@1.0.0 was removed" in text
        assert reader.complaints == []
        reader.tab.goto(f"{address}/web/p/{MNIST}.html")
        assert "1.0.0: removed: it was yanked" in reader.text()


CASE = "quickstart/mlops/multi-node/user-allocated-pvc"


def test_a_new_user_finds_a_package_sets_it_and_pastes_what_deploys_it(
    reader: Reader, zoo: Zoo, tmp_path: Path, api_server: Api
) -> None:
    """From the page's address to a Job in a cluster, by a shell with packyard, and by one with kustomize alone."""
    copy = zoo.copy(tmp_path / "zoo")
    with_page(copy.folder)
    with real.serve(copy.folder) as address:
        reader.tab.goto(address)
        reader.tab.get_by_role("searchbox", name="Search packages").type("mnist")
        reader.see("1 package")
        reader.tab.get_by_role("link", name=MNIST).click()
        reader.see("Trains a small network on MNIST")
        reader.tab.get_by_role("link", name="Set values", exact=True).click()
        reader.tab.get_by_label("Use case").select_option(CASE)
        reader.see("Still to be set: PVC_NAME")
        reader.tab.get_by_label("CPUS").fill("x1")
        reader.see("CPUS takes a whole number of at least 1, not 'x1'")
        reader.tab.get_by_label("CPUS").fill("3")
        reader.tab.get_by_label("PVC_NAME").fill("my-disk")
        reader.see("All that has to be set is set.")
        reader.tab.get_by_text("In steps").click()
        steps = reader.tab.get_by_role("group", name="commands in steps").inner_text()
        reader.tab.get_by_text("Without packyard").click()
        plain = reader.tab.get_by_role("group", name="commands without packyard").inner_text()
        programs = {"kustomize": real.pinned_program("kustomize-4"), "kubectl": real.pinned_program("kubectl")}
        programs |= {name: real.program(name) for name in ("wget", "tar", "gzip")}
        folder = programs_dir(tmp_path / "programs", programs)
        for place, pasted in (("with", steps), ("without", plain)):
            (tmp_path / place).mkdir()
            shell = f"cd {tmp_path / place} && set -e\n{pasted}\nkubectl delete --wait=false -k {MNIST}/{CASE}"
            variables = {**zoo.variables, "KUBECONFIG": str(api_server.folder / "kubeconfig"), "no_proxy": "127.0.0.1"}
            variables["PATH"] = f"{folder}:{os.environ['PATH']}"
            told = subprocess.run(["sh", "-c", shell], env=environment(**variables), capture_output=True, text=True)
            assert told.returncode == 0, told.stderr
            assert re.search(r"^job.batch/mnist-fp32-training-multi-node-pvc-worker created$", told.stdout, re.M)
            written = (tmp_path / place / MNIST / CASE / "job.yaml").read_text()
            assert 'claimName: "my-disk"' in written


def test_sets_values_and_the_command_line_takes_them(reader: Reader, address: str, zoo: Zoo, tmp_path: Path) -> None:
    reader.read(f"{address}#/{MNIST}/set/{CASE}")
    reader.tab.fill("#set-PVC_NAME", "my-disk")
    reader.see("All that has to be set is set.")
    assert "my-disk" in reader.tab.inner_text(".outcome table")
    steps = reader.tab.text_content("pre[aria-label='commands in steps']") or ""
    for line in steps.splitlines()[:-1]:  # the last one needs a cluster
        words = [*COMMAND, *shlex.split(line)[1:]]
        subprocess.run(words, cwd=tmp_path, env=environment(**zoo.variables), check=True, capture_output=True)
    assert any('claimName: "my-disk"' in file.read_text() for file in (tmp_path / MNIST / CASE).iterdir())


def test_downloads_values_and_bundles(reader: Reader, address: str, zoo: Zoo, tmp_path: Path) -> None:
    reader.read(f"{address}#/{MNIST}/set/{CASE}")
    reader.tab.fill("#set-PVC_NAME", "my-disk")
    reader.see("All that has to be set is set.")
    values = tmp_path / "values.yaml"
    with reader.tab.expect_download() as saving:
        reader.tab.click("text=As a file")
        reader.tab.click("text=Download values.yaml")
    saving.value.save_as(values)
    assert "PVC_NAME: my-disk" in values.read_text()
    with reader.tab.expect_download() as saving:
        reader.tab.goto(f"{address}#/{MNIST}")
        reader.tab.click("text=Download it")
    assert Path(saving.value.path()).read_bytes() == (zoo.folder / f"1.1.0/{MNIST}.tar.gz").read_bytes()


def test_a_pasted_key_verifies_and_another_one_refuses(reader: Reader, address: str, zoo: Zoo, tmp_path: Path) -> None:
    assert "this page has no key to check that" in reader.read(f"{address}#trust")
    reader.tab.fill("#key", zoo.key.read_text())
    reader.tab.click("text=Verify with this key")
    reader.see("Signature verified")
    reader.see("The head is signed by the key that you gave.")
    assert "whose signature is verified" in reader.read(f"{address}#/{MNIST}")
    reader.read(f"{address}#trust")
    other = Zoo(tmp_path, tmp_path / ".config/packyard/keys/other.pub.pem", {**zoo.variables, "HOME": str(tmp_path)})
    other.packyard("keys", "new", "other", "--no-passphrase")
    reader.tab.fill("#key", other.key.read_text())
    reader.tab.click("text=Verify with this key")
    reader.see("which is not the key that you gave")
    assert MNIST not in reader.text()


def test_says_what_a_key_of_the_page_itself_proves(reader: Reader, zoo: Zoo, tmp_path: Path) -> None:
    copy = zoo.copy(tmp_path / "zoo")
    with_page(copy.folder, Page(keys=[zoo.key.read_text()], title="Our models"))
    with real.serve(copy.folder) as address:
        reader.read(f"{address}/#trust")
        reader.see("Page and key come from the same place")
        assert reader.tab.title() == "What is verified \u2013 Our models"


@pytest.mark.parametrize("below", ["", "deep/er/zoo"])
def test_reads_from_nginx_below_any_path(reader: Reader, zoo: Zoo, tmp_path: Path, below: str) -> None:
    zoo.copy(tmp_path / "web" / below) if below else zoo.copy(tmp_path / "web")
    with buckets.nginx(real.program("nginx"), tmp_path, tmp_path / "web", more=TYPES) as address:
        place = f"{address}/{below}/" if below else f"{address}/"
        assert "12 packages" in reader.read(place)
        assert f"--from {place}".rstrip("/") in reader.read(f"{place}#/{SERVING}")


def test_reads_a_channel_of_another_origin(reader: Reader, zoo: Zoo, tmp_path: Path) -> None:
    cors = "add_header Access-Control-Allow-Origin * always;"
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with buckets.nginx(real.program("nginx"), tmp_path / "one", zoo.folder, more=TYPES + cors) as channel:
        zoo.packyard("web", channel, "--to", tmp_path / "page")
        with buckets.nginx(real.program("nginx"), tmp_path / "two", tmp_path / "page", more=TYPES) as address:
            assert "12 packages" in reader.read(f"{address}/")
            assert f"--from {channel}" in reader.read(f"{address}/#/{SERVING}")


def test_says_so_where_another_origin_is_not_let_in(
    open_reader: Callable[..., Reader], zoo: Zoo, tmp_path: Path
) -> None:
    with real.serve(zoo.folder) as channel:
        zoo.packyard("web", channel, "--to", tmp_path / "page")
        with real.serve(tmp_path / "page") as address:
            assert "Access-Control-Allow-Origin" in open_reader().read(f"{address}/")


def test_reads_from_a_bucket_with_what_uploads_say_of_objects(reader: Reader, zoo: Zoo, tmp_path: Path) -> None:
    with buckets.versitygw(real.pinned_program("versitygw"), tmp_path) as server:
        there = Zoo(zoo.folder, zoo.key, {**zoo.variables, **server.environment})
        there.packyard("copy", zoo.folder, f"s3://{buckets.BUCKET}/zoo")
        there.packyard("web", f"s3://{buckets.BUCKET}/zoo")
        public(server)
        place = f"{server.url}/{buckets.BUCKET}/zoo"
        assert "12 packages" in reader.read(f"{place}/index.html")
        assert "MultiWorkerMirroredStrategy" in reader.read(f"{place}/index.html#/{MNIST}")
        said = {key: headers(f"{place}/{key}") for key in ("index/head.json", "index.html", f"1.1.0/{MNIST}.tar.gz")}
    assert said["index/head.json"]["Cache-Control"] == said["index.html"]["Cache-Control"] == "no-cache"
    assert "immutable" in said[f"1.1.0/{MNIST}.tar.gz"]["Cache-Control"]
    assert said[f"1.1.0/{MNIST}.tar.gz"]["Content-Type"] == "application/octet-stream"
    assert said["index.html"]["Content-Type"] == "text/html; charset=utf-8"


def public(server: buckets.BucketServer) -> None:
    """Let everybody read the bucket."""
    objects = f"arn:aws:s3:::{buckets.BUCKET}/*"
    statement = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": objects}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    signed = ["--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{buckets.ACCESS_KEY}:{buckets.SECRET_KEY}"]
    digest = f"x-amz-content-sha256: {sha256(policy.encode()).hexdigest()}"
    sent = ["-X", "PUT", "-H", digest, "-H", "Content-Type: application/json", "-d", policy]
    words = [real.program("curl"), "-sSf", *signed, *sent, f"{server.url}/{buckets.BUCKET}?policy="]
    subprocess.run(words, check=True, capture_output=True)


def headers(address: str) -> dict[str, str]:
    """Return the headers of an answer."""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address) as answer:
        return dict(answer.headers)


def test_an_export_needs_no_server(reader: Reader, zoo: Zoo, tmp_path: Path) -> None:
    file = tmp_path / "two.html"
    zoo.packyard("web", zoo.folder, "--single-file", file, MNIST, f"{SERVING}@1.0.0", "--public-key", zoo.key)
    assert "2 packages" in reader.read(file.as_uri())
    assert "MultiWorkerMirroredStrategy" in reader.read(f"{file.as_uri()}#/{MNIST}")
    reader.read(f"{file.as_uri()}#/{MNIST}/set/quickstart/mlops/multi-node/user-allocated-pvc")
    reader.tab.fill("#set-CPUS", "x1")
    reader.see("CPUS takes a whole number")
    assert not [url for url in reader.requests if not url.startswith(("file:", "blob:", "data:"))]


def test_pages_without_scripts_are_readable(open_reader: Callable[..., Reader], zoo: Zoo, tmp_path: Path) -> None:
    copy = zoo.copy(tmp_path / "zoo")
    copy.packyard("web", copy.folder, "--prerender")
    reader = open_reader(java_script_enabled=False)
    with real.serve(copy.folder) as address:
        reader.tab.goto(f"{address}/")
        reader.tab.click(f"a[href$='{MNIST}.html']")
        assert "MultiWorkerMirroredStrategy" in reader.tab.inner_text("body")
        about = reader.tab.get_attribute("meta[property='og:description']", "content")
        assert about is not None
        assert about.startswith("MNIST FP32 training")
        assert re.search(r"1\.0\.0: yanked", reader.tab.inner_text("body"))


def test_compares_two_versions(reader: Reader, address: str) -> None:
    text = reader.read(f"{address}#/{MNIST}@1.1.0/compare/{MNIST}@1.0.0")
    assert "1.0.0" in text
