"""A name that is not there: those that were probably meant, and none rather than a wrong one."""

import errno
import os
import re
import shlex
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from packyard.cli import declare
from packyard.cli.verbs import VERBS
from packyard.core.errors import suggest
from running import suggested
from tiny import packyard, refused, write
from using.options import optioned


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        (
            "resnet50",
            ["resnet50-training", "resnet50-inference", "bert"],
            "'resnet50-inference' or 'resnet50-training'",
        ),
        ("nfs", ["fsx", "user-mounted-nfs", "efs"], "'user-mounted-nfs'"),
        ("SERVER", ["NFS_SERVER", "USER_ID"], "'NFS_SERVER'"),
        ("WORKERZ", ["WORKERS", "USER_ID"], "'WORKERS'"),
        ("LLM-serving", ["llm-serving"], "'llm-serving'"),
        ("gte", ["get", "set"], "'get'"),
        ("-R", ["-v", "-q"], ""),
        ("install", ["disable", "lint"], ""),
        ("model", [f"model-{number}" for number in range(9)], "'model-0', 'model-1', 'model-2' or one of 6 more"),
    ],
)
def test_a_name_is_suggested_that_was_meant_or_none(name: str, known: list[str], meant: str) -> None:
    assert suggest(name, known) == (f"did you mean {meant}?" if meant else "")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return optioned.package(tmp_path_factory.mktemp("words"))


@pytest.mark.parametrize(
    "words", ["set WORKERS=3", "enable", "enable queue", "enable --off queue", "render", "deploy", "doctor"]
)
def test_a_directory_of_use_cases_names_them(root: Path, words: str) -> None:
    said = refused(*words.split(), cwd=root)
    assert "holds 3: single-node, multi-node, volume" in said  # as package.yaml has them
    verb = words.removesuffix(" queue").split(" W")[0].split(" --p")[0]
    assert f"name one: packyard {verb} {'multi' if 'WORKERS' in words else 'single'}-node" in said
    assert ("| packyard set . -R -f -" in said) == (words == "enable queue")
    assert "Krmfile" not in said
    assert "no options" not in said


def test_a_folder_above_packages_names_these_and_not_all_their_use_cases(tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(optioned.package(tmp_path / "made" / name), tmp_path / f"all/deep/{name}")
    said = packyard("set", cwd=tmp_path / "all").stderr
    assert said.startswith(
        "error: .: is not a use case, but holds 2 packages: deep/one, deep/two (name a use case of one,"
    )
    assert "packyard setters deep/one" in said
    said = packyard("setters", "two/multi-node", cwd=tmp_path / "all").stderr
    assert "(did you mean 'deep/two/multi-node'?)" in said
    said = packyard("setters", "multi-node/nfs", cwd=tmp_path / "all").stderr
    assert "(the packages below are deep/one, deep/two: begin with one of them)" in said


#: What hands type that know Helm, kpt, pip or git; where "." is, all is typed in a folder with the package tiny-k8s.
MISTYPED = """\
get tiny-k8s==1.0.0; get tiny-k8s 1.0.0; get tiny-k8s multi-node; get tiny-k8s --force; render tiny-k8s/multi-node -n ml
redo; fetch tiny-k8s; install tiny-k8s; values tiny-k8s; disable tiny-k8s/multi-node queue; update tiny-k8s; undo --redo
build tiny-k8s/multi-node; enable queue tiny-k8s/multi-node; enable queue; setters tiny-k8s multi-node; setters tiny-k8
setters multi-node; set multi-node WORKERS=3; set tiny-k8s multi-node WORKERS=3; set WORKERS=3; render multi-node
set tiny-k8s/multi-node --workers 3; set tiny-k8s/multi-node WORKERZ=3; set tiny-k8s/multi-node WORKERS; set
explain WORKERS; explain tiny-k8s/multi-node; render tiny-k8s; render tiny-k8s/multi-node; upgrade 2.0; verify; diff
undo tiny-k8s 3; get tiny-k8s; list --versions; new x; completion; unset x; edit tiny-k8s/multi-node WORKERS=3; search x
"""
_STANDS_FOR = {"NAME": "tiny-k8s", "USECASE": "multi-node", "DIR": "tiny-k8s", "WORD": "tiny", "VALUE": "3"}


@pytest.mark.parametrize("typed", [each.strip() for each in MISTYPED.replace("\n", ";").split(";") if each.strip()])
def test_each_command_that_a_message_prints_can_be_typed(typed: str, root: Path) -> None:
    said = packyard(*shlex.split(typed), cwd=root.parent).stderr
    commands = re.sub("packyard [a-z]+: | (?:lists|shows|moves|fetches|and) ", "; ", said.replace("…", "3"))
    for words in suggested.of_text(commands.replace(" . ", " ./ ")):
        if words[0] != "packyard":
            continue
        stands = [re.sub("[A-Z]+", lambda name: _STANDS_FOR.get(name[0], name[0]), word) for word in words]
        understood = suggested.understood(stands)[1:]
        again = packyard(*understood, cwd=root.parent)
        assert again.returncode != 2, (said, understood, again.stderr)
        assert again.stderr != said, (said, understood)


def test_a_machine_is_not_searched_for_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("packyard.core.files.tree._MOST", 20)
    for number in range(30):
        (tmp_path / str(number)).mkdir()
    for words in ("setters", "set A=b", "set -R A=b", "explain A", "enable a", "render", "deploy", "render --to out"):
        said = packyard(*words.split(), cwd=tmp_path).stderr
        assert "holds more than 20 folders (name the directory of a package; packyard get NAME fetches one)" in said


def test_a_folder_that_is_gone_by_the_time_it_is_entered_holds_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def vanished(path: str) -> object:
        if str(path).endswith("docs"):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return scandir(path)

    (root / "docs").mkdir(exist_ok=True)
    monkeypatch.setattr(os, "scandir", vanished)
    assert "multi-node" in packyard("setters", root).stdout


@pytest.mark.parametrize("home", ["/gone", "", "relative"])
def test_without_a_home_folder_what_reads_works_and_what_writes_says_what_is_missing(home: str, root: Path) -> None:
    homes = {"HOME": home, **dict.fromkeys(("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"), "")}
    why = f"HOME is {home!r}, which is not a folder"
    for words in ("config", "undo --list", "keys list", "setters", "list resnet", "show mnist-fp32-training-k8s"):
        process = packyard(*words.split(), cwd=root, **homes)
        assert process.returncode == 0, process.stderr
        assert "/dev/null" not in process.stdout + process.stderr
    for words in ("undo", "config set channel http://x", "keys new a --no-passphrase"):
        process = packyard(*words.split(), cwd=root, **homes)
        assert process.stderr.startswith(
            f"error: packyard can keep nothing: {why} (set HOME to a folder of yours, or XD"
        )


#: What is mistyped, and what is said of it.
SAID = """\
registry login ghcr.io          no verb 'registry login'; type docker login ghcr.io, as packyard reads ~/.docker/config
get p --version 1.0.0           unknown flag '--version' (type NAME@VERSION without a flag)
get p --repo=https://h          unknown flag '--repo' (did you mean '--from'?)
deploy . -namespace ml          unknown flag '-namespace' (did you mean '--namespace'?)
deploy x --dry-run=client -v    there is no flag '--dry-run=client'; type packyard deploy x --dry-run -v
enable -queue                   there is no flag '-queue'; type packyard enable queue
exec run ls                     unexpected argument 'ls'; type packyard exec [flags] RUN [-- COMMAND ...]
publish 1.0 --to ch             --version is missing; type packyard publish --version 1.0 --to ch
-q -n ml set . A=1              the verb goes first; type packyard set -n ml . A=1
./multi-node                    the verb goes first; type packyard setters ./multi-node
enable multi-node --queue       unknown flag '--queue' (type an option without dashes, queue)
undo 2                          undo: one change at a time; type packyard undo, and again for the one before
set multi-node/A=a/b            DIR and NAME=VALUE are two words; type multi-node A=a/b
set multi-node packyard.json    'packyard.json' is a file; to set the values that it has, type -f packyard.json
render . --set A=1              unknown flag '--set' (type NAME=VALUE without a flag)
set . A=1 --recursive           unknown flag '--recursive' (did you mean '-R'?)
upgrade . --to 1.0.0            unknown flag '--to' (type VERSION without a flag)
set . --RUN_NAME=x              unknown flag '--RUN_NAME' (to set a value, type RUN_NAME=VALUE;
set multi-node WORKERS = 3      there are blanks around =; type WORKERS=3
set multi-node A=a WORKERS =3   type A=a WORKERS=3
set WORKERS=3 multi-node        DIR goes first; type packyard set multi-node WORKERS=3
set --dryrun                    set: unknown flag '--dryrun' (did you mean '--dry-run'?)
upgrade . --force               unknown flag '--force' (type --conflicts theirs)
set . A=1 --force               unknown flag '--force' (it takes --keep, --recurse-subpackages, --dry-run, --values,
set -x                          set: unknown flag '-x' (it takes --keep, --recurse-subpackages, --dry-run,
set --dry-run=yes               --dry-run is on or off: type --dry-run or --dry-run=false, not --dry-run=yes; packyard
set ARGS --lr=1                 '--lr' (to set a value, type LR=VALUE; before values that begin with -, type --);
set multi-node A=1 --unset A    at once; type packyard set multi-node A=VALUE, or --unset A
set --values                    set: --values needs a value; packyard set --help lists the flags
render --locked                 name a package and its use case, NAME/USECASE
render A=1 --from channel       name a package and its use case, NAME/USECASE
setters multi-node WORKERS      after DIR; type packyard explain multi-node WORKERS
list --all                      unknown flag '--all' (it takes --from)
disable multi-node queue        type packyard enable multi-node queue --off
uninstall multi-node            type packyard undeploy multi-node
delete quickstart               type packyard undeploy RUN, as packyard status lists them; rm -r quickstart removes
edit set image foo=bar          type packyard set DIR NAME=VALUE
unset multi-node WORKERS        type packyard set multi-node --unset WORKERS
live destroy p/multi-node       type packyard undeploy RUN, as packyard status lists them
reset multi-node                type packyard undo multi-node
explain . A A                   explain: expected one NAME behind DIR, found 2; packyard setters .
"""


@pytest.mark.parametrize("line", SAID.splitlines())
def test_what_other_tools_take_leads_to_what_is_typed_here(line: str, root: Path) -> None:
    words, said = re.split("  +", line, maxsplit=1)
    assert said in refused(*shlex.split(words), code=2, cwd=root)


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ("render tiny-k8s/volume", "quickstart/mlops/volume/claim.yaml:2:1"),
        ("render tiny-k8s/volume --built-in", "quickstart/mlops/volume/claim.yaml:2:1"),
        ("set tiny-k8s/volume --unset PVC_NAME", "packyard.json"),
    ],
)
def test_a_broken_file_is_named_where_it_lies(tmp_path: Path, words: str, file: str) -> None:
    (optioned.package(tmp_path) / file.partition(":")[0]).write_text("a: [\n")
    assert f"error: tiny-k8s/{file}: " in packyard(*words.split(), cwd=tmp_path).stderr


def test_a_use_case_without_the_krmfile_of_its_package_is_told_where_others_are_set(tmp_path: Path) -> None:
    root = optioned.package(tmp_path)
    (root / optioned.SINGLE / "Krmfile").unlink()
    process = packyard("set", "-R", "tiny-k8s", "PVC_NAME=disk", cwd=tmp_path)
    assert process.returncode == 0
    assert f"warning: tiny-k8s/{optioned.SINGLE}: has no Krmfile and is passed over (its package" in process.stderr
    assert "tiny-k8s/multi-node: PVC_NAME is disk" in process.stdout


def test_an_empty_folder_is_told_without_the_words_of_kustomize(tmp_path: Path) -> None:
    for words in (("setters",), ("set", "A=1"), ("render",), ("enable",)):
        assert "is not a use case, and holds none" in refused(*words, cwd=tmp_path)
    assert "no directory below has one" in refused("set", "-R", "A=1", cwd=tmp_path)


def test_half_a_use_case_is_told_what_it_lacks_and_not_to_type_the_same_again(tmp_path: Path) -> None:
    plain, bare = tmp_path / "my app", tmp_path / "bare"
    write(plain / "kustomization.yaml", "resources: []\n")
    write(bare / "Krmfile", "openAPI: {definitions: {}}\n")
    for words in (("setters", plain.name), ("set", plain.name, "A=1"), ("explain", plain.name, "A")):
        said = packyard(*words, cwd=tmp_path).stderr
        assert said.startswith("error: my app: has no Krmfile (packyard cfg init 'my app' makes one, "), said
    for words in (("render", bare.name), ("enable", bare.name), ("deploy", bare.name)):
        said = packyard(*words, cwd=tmp_path).stderr
        assert said.startswith("error: bare: has no kustomization.yaml (write one that lists "), said
    shutil.copytree(plain, tmp_path / "pkg/run")
    for words in (("setters", "pkg"), ("explain", "pkg", "A"), ("set", "pkg", "A=1")):
        said = packyard(*words, cwd=tmp_path).stderr
        assert said.startswith("error: pkg/run: has no Krmfile (packyard cfg init pkg/run makes one, "), said
    shutil.copytree(bare, plain / "below")
    said = packyard("set", plain.name, "A=1", cwd=tmp_path).stderr
    example = "packyard set 'my app/below' A=1"
    assert said == f"error: my app: has no Krmfile, but holds one: below (name one: {example})\n"


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        ("render DIR", "packyard set 'my app' A='x y'"),
        ("set DIR", "packyard setters 'my app' lists"),
        ("set DIR --unset NOPE", "packyard setters 'my app' lists"),
        ("set DIR --unset B", "packyard set 'my app' B=VALUE"),
        ("set DIR MADE=1", "packyard set 'my app' B=VALUE"),
        ("set DIR A", "type packyard set 'my app' A=VALUE"),
        ("set DIR B:5", "type packyard set 'my app' B=5"),
        ("explain DIR", "packyard setters 'my app' lists"),
        ("setters DIR foo", "packyard setters 'my app'"),
        ("enable --off DIR", "packyard enable 'my app' lists"),
        ("undo DIR 3", "packyard undo 'my app'"),
    ],
)
def test_a_folder_with_a_blank_is_quoted_in_what_to_type(tmp_path: Path, words: str, typed: str) -> None:
    folder = tmp_path / "my app"
    write(folder / "kustomization.yaml", "resources: [r.yaml]\n")
    (folder / "r.yaml").write_text('a: x # {"$openapi":"A"}\nb: 1 # {"$openapi":"B"}\nc: v1 # {"$openapi":"MADE"}\n')
    (folder / "Krmfile").write_text(
        "openAPI:\n  definitions:\n"
        "    io.k8s.cli.setters.A: {example: x y, x-k8s-cli: {setter: {name: A, value: '', required: true}}}\n"
        "    io.k8s.cli.setters.B: {x-k8s-cli: {setter: {name: B, value: 1}}}\n"
        "    io.k8s.cli.substitutions.MADE:\n      x-k8s-cli:\n        substitution:\n          name: MADE\n"
        "          pattern: v${B}\n          values: [{marker: '${B}', ref: '#/definitions/io.k8s.cli.setters.B'}]\n"
    )
    process = packyard(*(folder.name if word == "DIR" else word for word in words.split()), cwd=tmp_path)
    assert process.returncode
    assert typed in process.stderr


@pytest.mark.parametrize(
    ("verb", "flag", "now"),
    [("build", "--out", "to"), ("render", "--out", "to"), ("get", "--into", "to"), ("yank", "--in", "channel")],
)
def test_a_flag_is_taken_by_the_name_that_it_had_before(verb: str, flag: str, now: str) -> None:
    made = declare.make(import_module(f"packyard.cli.{VERBS[verb][0]}"), verb)
    required = {"yank": ["--reason", "slow"], "build": ["--version", "1"]}.get(verb, [])
    assert vars(made.parse_known_args(["p", flag, "folder", *required])[0])[now] == "folder"
    assert f"{flag} " not in made.format_help()
    assert flag not in made.flags()
