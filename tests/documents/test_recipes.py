"""The recipes for CI fit the schemas of their systems, and their steps publish a tag, signed, with its commit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

import real
import tiny
from packyard.sharing.entry import SIGSTORE
from packyard.sharing.index import access
from packyard.sharing.stores import open_store
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import SigningKey, Trust
from tiny import environment, programs_dir

RECIPES = real.REPOSITORY / "docs" / "recipes"
KEY = SigningKey.new()
SECRETS = {"PACKYARD_SIGNING_KEY": KEY.to_pem(b"secret").decode(), "PACKYARD_KEY_PASSPHRASE": "secret"}
SOURCE = "git+https://git.example.com/packyard@v1.0.0"
Step = tuple[str, Mapping[str, str]]


def github(recipe: Mapping[str, Any]) -> list[Step]:
    """Return the steps that a runner types, each with the environment of its own."""
    (job,) = recipe["jobs"].values()
    return [(step["run"], _known(job["env"] | step.get("env", {}))) for step in job["steps"] if "run" in step]


def gitlab(recipe: Mapping[str, Any]) -> list[Step]:
    """Return the lines of both jobs; variables of the project are in all of them."""
    jobs = [recipe[name] for name in ("check", "publish")]
    return [
        (line, job.get("variables", {}) | SECRETS)
        for job in jobs
        for line in (*recipe["default"]["before_script"], *job["script"])
    ]


def _known(env: Mapping[str, str]) -> dict[str, str]:
    """Put the secrets and variables in; whatever a step needs of a bucket, a folder does without."""
    given = {name: SECRETS.get(name, "") if "secrets." in text else text for name, text in env.items()}
    values = {name: text.replace("${{ vars.PACKYARD_SOURCE }}", SOURCE) for name, text in given.items()}
    assert all("secrets." not in text or f"secrets.{name} " in text for name, text in env.items())
    return values


def type_in_bash(step: str, root: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [real.program("bash"), "-e", "-c", step]
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True)


@pytest.mark.nightly
@pytest.mark.parametrize(("system", "schema"), [("github", "github-workflows"), ("gitlab", "gitlab-ci")])
def test_the_recipes_fit_the_schema_of_their_system(system: str, schema: str) -> None:
    recipes = [*RECIPES.glob(f"{system}-*.yml")]
    assert len(recipes) == 2
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *recipes]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "steps"), [("github-actions.yml", github), ("gitlab-ci.yml", gitlab)])
def test_the_steps_of_a_recipe_publish_a_tag_with_provenance(name: str, steps: Any, tmp_path: Path) -> None:
    root = tiny.workspace(tmp_path / "clone")

    def git(*words: str) -> str:
        who = ("-c", "user.name=r", "-c", "user.email=r@example.com")
        return subprocess.run(["git", *who, *words], cwd=root, capture_output=True, text=True, check=True).stdout

    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "Begin"), ("tag", "v1.2.0")):
        git(*words)
    channel, bin_dir = tmp_path / "channel", programs_dir(tmp_path / "bin", {})
    (bin_dir / "python").write_text('#!/bin/sh\necho "$@" >>"$HOME/python"\n')
    (bin_dir / "python").chmod(0o755)
    mine = {"PATH": f"{bin_dir}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    mine |= {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    for step, env in steps(yaml.safe_load((RECIPES / name).read_text())):
        found = {
            "PACKYARD_SOURCE": SOURCE,
            **env,
            "PACKYARD_CHANNEL": str(channel),
            "GITHUB_REF_NAME": "v1.2.0",
            "CI_COMMIT_TAG": "v1.2.0",
        }
        done = type_in_bash(step, root, environment(**mine, **found))
        assert done.returncode == 0, done.stderr
    assert {line.strip() for line in (tmp_path / "python").read_text().splitlines()} == {
        f"-m pip install packyard[cloud] @ {SOURCE}"
    }
    store, trusted = open_store(str(channel)), Trust.of(KEY.public)
    listed = access.read(store, trusted)
    release = listed.release("1.2.0")
    assert release is not None
    assert release.closed
    (entry,) = listed.entries
    key = entry.beside(SIGSTORE)
    made, opened = provenance.open(store.get(key), trusted, file=key)
    assert opened.signers
    assert (made.commit, made.dirty) == (git("rev-parse", "HEAD").strip(), False)


@pytest.mark.parametrize("name", sorted(file.name for file in RECIPES.glob("*.yml")))
def test_a_recipe_installs_what_the_variable_names_and_stops_where_it_is_empty(name: str, tmp_path: Path) -> None:
    recipe = yaml.safe_load((RECIPES / name).read_text())
    jobs = [*recipe.get("jobs", {}).values(), *(job for job in recipe.values() if isinstance(job, dict))]
    lines = [step["run"] for job in jobs for step in job.get("steps", ()) if "run" in step]
    lines += [line for job in jobs for key in ("script", "before_script") for line in job.get(key, ())]
    (install,) = [line for line in lines if "pip install" in line]
    tiny.write(tmp_path / "bin/python", f'#!{real.program("sh")}\necho "$4" >"{tmp_path}/installed"\n')
    (tmp_path / "bin/python").chmod(0o755)
    for source, code in ((SOURCE, 0), ("", 1)):
        env = {"PATH": str(tmp_path / "bin"), "PACKYARD_SOURCE": source}
        (tmp_path / "installed").unlink(missing_ok=True)
        done = type_in_bash(install, tmp_path, env)
        assert bool(done.returncode) == bool(code), done.stderr
        assert (tmp_path / "installed").exists() == bool(source)
        assert source or "PACKYARD_SOURCE: is empty" in done.stderr
    assert SOURCE not in install


#: Stands for `gh api` and curl: keeps one comment, `[{"id": 7, "body": …}]` where there is one, and notes each change.
_SERVER = """\
#!{python}
import json, os, sys
from pathlib import Path
home, words = Path(os.environ["HOME"]), sys.argv[1:]
method = next((each for each in words if each in ("POST", "PUT", "PATCH")), "")
kept = home / "comment"
if method:
    body = next(word.partition("@")[2] for word in words if word.startswith(("body=@", "body@")))
    kept.write_text(Path(body).read_text())
    address = next(word for word in words if "/" in word and "@" not in word)
    with (home / "changes").open("a") as changes:
        print(method, address, file=changes)
elif Path(sys.argv[0]).name == "gh":
    print(7 if kept.exists() else "")
else:
    print(json.dumps([dict(id=7, body=kept.read_text())] if kept.exists() else []))
"""
_COMMENTS = {
    "github-impact.yml": ["POST repos/o/zoo/issues/5/comments", "PATCH repos/o/zoo/issues/comments/7"],
    "gitlab-impact.yml": ["POST https://gitlab.example/notes", "PUT https://gitlab.example/notes/7"],
}


def _jobs(name: str) -> list[tuple[list[str], dict[str, str]]]:
    """Return what the job that composes types, and the job that comments, each with its environment."""
    recipe = yaml.safe_load((RECIPES / name).read_text())
    if name == "gitlab-impact.yml":
        known = {"IMPACT_TOKEN": "secret", "NOTES": "https://gitlab.example/notes"}
        return [(["\n".join(job["script"])], job["variables"] | known) for job in recipe.values()]
    values = {"github.repository": "o/zoo", "github.event.pull_request.number": "5", "github.token": "secret"}
    values["vars.PACKYARD_SOURCE"] = SOURCE
    jobs = []
    for job in recipe["jobs"].values():
        env = job.get("env", {})
        for key, value in values.items():
            env = {each: text.replace(f"${{{{ {key} }}}}", value) for each, text in env.items()}
        jobs.append(([step["run"] for step in job["steps"] if "run" in step], env))
    return jobs


@pytest.mark.nightly
@pytest.mark.parametrize("name", _COMMENTS)
def test_the_steps_of_a_recipe_comment_what_a_change_touches_and_renew_that(name: str, tmp_path: Path) -> None:
    root, bin_dir = tiny.workspace(tmp_path / "clone"), programs_dir(tmp_path / "bin", {})

    def git(*words: str) -> str:
        who = ("-c", "user.name=r", "-c", "user.email=r@example.com")
        return subprocess.run(["git", *who, *words], cwd=root, capture_output=True, text=True, check=True).stdout

    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "Begin"), ("branch", "origin/main")):
        git(*words)
    for program in ("gh", "curl"):
        tiny.write(bin_dir / program, _SERVER.format(python=sys.executable))
        (bin_dir / program).chmod(0o755)
    tiny.write(bin_dir / "python", f'#!/bin/sh\n[ "$1" = -m ] || exec {sys.executable} "$@"\n')
    (bin_dir / "python").chmod(0o755)
    mine = {"PATH": f"{bin_dir}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    mine |= {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "PACKYARD_SOURCE": SOURCE}
    base = {"GITHUB_BASE_REF": "main", "CI_MERGE_REQUEST_DIFF_BASE_SHA": git("rev-parse", "HEAD").strip()}
    for value in ("2", "3"):
        tiny.replace(root / "bases/one/cm.yaml", f'a: "{int(value) - 1}"', f'a: "{value}"')
        git("commit", "-qam", "Change")
        for steps, env in _jobs(name):
            for step in steps:
                done = type_in_bash(step, root, environment(**mine, **base, **env))
                assert done.returncode == 0, done.stderr
        written = (tmp_path / "comment").read_text()
        assert written.startswith("<!-- packyard diff -->\n    p/uses/one\n")
        assert f'"{value}"' in written
    assert (tmp_path / "changes").read_text().splitlines() == _COMMENTS[name]


def test_only_the_job_that_comments_may_write_and_it_runs_nothing_of_the_change() -> None:
    recipe = yaml.safe_load((RECIPES / "github-impact.yml").read_text())
    assert recipe["permissions"] == {}
    rights = {name: job["permissions"] for name, job in recipe["jobs"].items()}
    assert rights == {"impact": {"contents": "read"}, "comment": {"pull-requests": "write"}}
    assert recipe[True] == "pull_request"  # not `pull_request_target`, which has the rights of the repository
    steps = [step.get("uses", "") for step in recipe["jobs"]["comment"]["steps"]]
    assert not any(step.startswith("actions/checkout") for step in steps)
    jobs = yaml.safe_load((RECIPES / "gitlab-impact.yml").read_text())
    assert jobs["comment"]["variables"]["GIT_STRATEGY"] == "none"
    assert "IMPACT_TOKEN" not in str(jobs["impact"])
