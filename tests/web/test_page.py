"""The page of a channel without a browser: what it shows and loads, what packages can do to it, what is refused."""

import http.client
import json
from pathlib import Path
from posixpath import dirname, normpath
from urllib.parse import unquote, urlsplit

import pytest

import real
from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import build
from packyard.sharing.web import page, readme
from packyard.sharing.web.serve import server
from tiny import done, packyard, write_all
from web.pages import CASE, SETTERS, Read, channel, package, written

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\u202e{{ 7 * 7 }}</title></code>"
POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; worker-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"  # noqa: E501  # as it stands in the page


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """Publish two packages; one has two versions, of which the first is yanked."""
    made = channel(tmp_path / "zoo", package(), package(version="2.0+cpu"), package("gpt", readme="# GPT\n\nWrites.\n"))
    done("yank", "bert@1.0", "--reason", "it diverges", "--from", made)
    return made


def test_every_address_of_a_page_leads_to_what_is_there(zoo: Path) -> None:
    for key, read in written(zoo).items():
        assert read.faults == []
        for address in read.addresses():
            if address.startswith("data:") or key == page.MISSING:
                continue
            way, fragment = urlsplit(address)[2::2]
            file = normpath(f"{dirname(key)}/{unquote(way)}").lstrip("/") if way else key
            assert (zoo / file).is_file(), (key, address)
            assert not fragment or unquote(fragment) in [about.get("id") for _, about in read.elements], (key, address)


def test_a_page_asks_for_a_style_sheet_and_a_script_and_runs_nothing_else(zoo: Path) -> None:
    pages = written(zoo)
    pages.pop(page.MISSING)
    for key, read in pages.items():
        root = "" if key == page.INDEX else "../../"
        assert [about.get("http-equiv") and about["content"] for about in read.all("meta")][1] == POLICY
        assert read.all("script") == [{"src": f"{root}web/page.js", "defer": ""}]
        assert [about["href"] for about in read.all("link")] == ["data:,", f"{root}web/page.css"]
        assert not [
            about for _, about in read.elements if "style" in about or any(name.startswith("on") for name in about)
        ]
        assert "style" not in {tag for tag, _ in read.elements}


def test_says_what_show_prints(zoo: Path) -> None:
    text = " ".join(written(zoo)["web/p/bert.html"].text.split())
    (shown,) = json.loads(done("show", "bert", "--from", zoo, "-o", "json"))
    ((case,),) = (row["useCases"] for row in json.loads(done("show", f"bert/{CASE}", "--from", zoo, "-o", "json")))
    for said in (shown["version"], shown["description"], shown["digest"], shown["tar"], *shown["images"]):
        assert said in text
    assert case["description"] in text
    assert "MPI operator 0.5 or later" in text
    for setter in case["setters"]:
        assert f"{setter['name']} {setter['description']}" in text
    assert "a whole number from 1 to 64" in text
    assert "Signed by no key that whoever wrote this page trusts" in text
    assert "Job train reads ConfigMap settings" in [
        about.get("aria-label") for about in written(zoo)["web/p/bert.html"].all("svg")
    ]


def test_commands_stand_there_without_scripts_with_what_is_still_to_be_set(zoo: Path) -> None:
    read = written(zoo)["web/p/bert.html"]
    for command in (
        "packyard get bert@2.0+cpu --from CHANNEL",
        f"packyard run bert@2.0+cpu/{CASE} PVC_NAME=… --from=CHANNEL",
        f"packyard set bert/{CASE} PVC_NAME=…",
        f"packyard render bert/{CASE} | kubectl apply -f -",
    ):
        assert command in read.text
    assert read.all("input") == []
    assert "hidden" in written(zoo)[page.INDEX].all("search")[0]


def test_the_list_finds_packages_by_what_show_prints(zoo: Path) -> None:
    cards = {about["data-words"] for about in written(zoo)[page.INDEX].all("li")}
    assert len(cards) == 2
    (bert,) = (words.split() for words in cards if "bert" in words.split())
    assert {"trains", "pytorch", "multi", "node", "several", "pvc", "mpi", "queue"} <= set(bert)


def test_a_page_is_of_the_latest_version_and_lists_the_others_with_why_they_are_yanked_or_removed(zoo: Path) -> None:
    text = written(zoo)["web/p/bert.html"].text
    assert "1.0, yanked: it diverges" in text
    assert "2.0+cpu, the latest" in text
    done("yank", "gpt@1.0", "--reason", "it <b>leaks</b>", "--from", zoo)
    pages = written(zoo)
    assert "No version is offered any more." in pages["web/p/gpt.html"].text
    assert "1.0, yanked: it <b>leaks</b>" in pages["web/p/gpt.html"].text
    assert "packyard get" not in pages["web/p/gpt.html"].text
    assert "1 package" in pages[page.INDEX].text


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    setters = {name: {**about, "description": EVIL, "example": EVIL} for name, about in SETTERS.items()}
    setters[EVIL] = {"description": "", "pattern": EVIL, "enum": [EVIL]}
    said = {"description": EVIL, "framework": EVIL, "image": EVIL, "requires": f"Secret {EVIL}"}
    zoo = channel(tmp_path / "zoo", package("evil", "0.9"), package("evil", readme=EVIL, setters=setters, **said))
    done("yank", "evil@0.9", "--reason", EVIL.replace("\u202e", ""), "--from", zoo)
    for key, read in written(zoo).items():
        assert read.faults == [], key
        tags = {tag for tag, _ in read.elements}
        assert not tags & {"img", "iframe", "form", "object", "style", "base"}
        assert len(read.all("script")) == (key != page.MISSING)
    assert written(zoo)["web/p/evil.html"].text.count(EVIL) > 10


@pytest.mark.parametrize("case", ["a;reboot", "$(reboot)", "-n/x y", "a'b"])
def test_a_use_case_whose_name_a_shell_reads_otherwise_gets_no_command(tmp_path: Path, case: str) -> None:
    read = written(channel(tmp_path / "zoo", package("evil", case=case)))["web/p/evil.html"]
    assert case.rpartition("/")[2] in read.text
    assert read.commands() == ["packyard get evil@1.0", "packyard verify evil.tar.gz"]


def test_a_parameter_that_would_be_a_flag_or_a_command_is_told_and_never_typed(tmp_path: Path) -> None:
    setters = {"--from": {"required": True}, "A B": {"required": True}, "$(X)": {}, "GOOD": {"required": True}}
    read = written(channel(tmp_path / "zoo", package("evil", setters=setters)))["web/p/evil.html"]
    assert [about["data-name"] for about in read.all("tr") if "data-name" in about] == ["GOOD"]
    assert "--from" in read.text
    assert f"packyard set evil/{CASE} GOOD=…\n" in read.text


def test_a_readme_runs_nothing_loads_nothing_and_leads_to_the_web_alone() -> None:
    text = (
        "# Title\n\n<script>x</script> ![p](x.png) [run](javascript:alert(1)) [file](docs/x.md) [top](#top)\n"
        "[data](data:text/html,x) [good](https://example.com/?a=1&b) <https://example.org>\n\n"
        "| | b |\n|--|--|\n| c | d |\n"
    )
    read = Read(f"<main>{readme.to_html(text)}</main>".encode())
    assert read.faults == []
    assert [about["href"] for about in read.all("a")] == ["https://example.com/?a=1&b", "https://example.org"]
    assert {about["rel"] for about in read.all("a")} == {"nofollow noopener noreferrer"}
    assert not {tag for tag, _ in read.elements} & {"script", "img", "h1"}
    assert "file top" in read.text
    assert len(read.all("th")) == 1, "a header that says nothing is none"


@pytest.mark.parametrize("text", ["_a*" * 200_000, "> " * 200_000, "[" * 600_000])
def test_a_readme_that_takes_too_long_is_shown_as_text(text: str) -> None:
    assert readme.to_html(text) == f"<pre>{text.replace('>', '&gt;')}</pre>"


def test_a_version_that_does_not_verify_has_a_page_that_says_so(zoo: Path) -> None:
    file = zoo / "2.0+cpu/bert.tar.gz"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    told = packyard("web", zoo)
    assert told.returncode == 0
    assert "bert@2.0+cpu: its page says that it cannot be shown: " in told.stderr
    text = Read((zoo / "web/p/bert.html").read_bytes()).text
    assert "This version cannot be shown: bert@2.0+cpu: expected sha256:" in text
    assert "packyard run" not in text
    assert "bert" in Read((zoo / page.INDEX).read_bytes()).text


@pytest.mark.parametrize("krmfile", ["{", "apiVersion: v1", "- a", "rules: [{rule: '1 +', message: x}]"])
def test_a_use_case_that_cannot_be_read_or_built_is_shown_without_what_it_lacks(tmp_path: Path, krmfile: str) -> None:
    made = package()
    kept = [each for each in made.members if each.path not in ("packyard.json", f"{CASE}/Krmfile", f"{CASE}/job.yaml")]
    zoo = channel(
        tmp_path / "zoo", build(made.manifest, [*kept, Member(path=f"{CASE}/Krmfile", data=krmfile.encode())])
    )
    read = written(zoo)["web/p/bert.html"]
    assert "Trains on several nodes." in read.text
    assert read.all("svg") == []


@pytest.mark.parametrize("name", [page.INDEX, page.MISSING])
def test_a_page_of_somebody_else_is_kept_and_nothing_is_written(zoo: Path, name: str) -> None:
    (zoo / name).write_text("mine")
    before = sorted(zoo.rglob("*"))
    refused = packyard("web", zoo)
    assert (refused.returncode, (zoo / name).read_text(), sorted(zoo.rglob("*"))) == (1, "mine", before)
    assert "is not packyard's (move it away, or write the page elsewhere: --to DIR)" in refused.stderr


def test_writes_into_the_working_directory_and_again_what_changed_alone(zoo: Path) -> None:
    done("web", ".", cwd=zoo)
    rows = json.loads(done("web", ".", "-o", "json", cwd=zoo))
    assert {row["status"] for row in rows} == {"unchanged"}
    assert {row["file"] for row in rows} >= {page.INDEX, page.MISSING, "web/p/bert.html"}


def test_is_written_elsewhere_for_a_channel_that_is_only_read(zoo: Path, tmp_path: Path) -> None:
    with real.serve(zoo) as address:
        refused = packyard("web", address)
        assert f"packyard web {address} --to DIR" in refused.stderr
        done("web", address, "--to", tmp_path / "page")
        read = Read((tmp_path / "page/web/p/gpt.html").read_bytes())
    assert f"packyard get gpt@1.0 --from {address}" in read.text
    assert f"{address.rstrip('/')}/1.0/gpt.tar.gz" in read.addresses()
    assert not (zoo / page.INDEX).exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["oci://localhost/zoo"], "a registry serves no pages (write it elsewhere: packyard web oci://localhost/zoo"),
        (["NOTHING"], "no such file or directory"),
        (["NOTHING", "--open"], "no such file or directory"),
        (["zoo", "--open", "--port", "99999"], "port 99999 of 127.0.0.1 cannot be used: "),
        (["zoo", "--open", "--port", "-5"], "port -5 of 127.0.0.1 cannot be used: "),
        (["zoo", "--open", "--to", "x"], "not allowed with"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_a_way_on(zoo: Path, words: list[str], problem: str) -> None:
    refused = packyard("web", *words, cwd=zoo.parent)
    assert refused.returncode in (1, 2, 3)
    assert problem in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_look_answers_by_its_own_names_alone(tmp_path: Path) -> None:
    """Else a page of another host, whose name leads here, would read a channel that only its owner may."""
    write_all(tmp_path, {page.INDEX: "list", page.MISSING: "missing 100%", "web/page.js": "code"})
    serving = server(tmp_path)
    with real.answering(serving):
        for host, path, status, body in (
            ("127.0.0.1", "/", 200, b"list"),  # as port 80 is asked
            (f"localhost:{serving.server_port}", "/web/page.js?x", 200, b"code"),
            ("127.0.0.1:1", "/../secret", 404, b"missing 100%"),
            ("127.0.0.1:1", "/web/", 404, b"missing 100%"),
            ("zoo.test:80", "/", 403, b"missing 100%"),
            ("", "/", 403, b"missing 100%"),
        ):
            asking = http.client.HTTPConnection("127.0.0.1", serving.server_port)
            asking.putrequest("GET", path, skip_host=True)
            asking.putheader("Host", host)
            asking.endheaders()
            answer = asking.getresponse()
            assert (answer.status, answer.read()) == (status, body)
            asking.close()
