"""The recipes for CI fit the schemas of their systems, and their steps publish a tag, signed, with its commit."""

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
    assert recipes
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
    tiny.script(bin_dir / "python", 'echo "$@" >>"$HOME/python"')
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
    made, opened = provenance.check(provenance.get(store, entry), entry, trusted, what=entry.key)
    assert opened.signers
    assert made
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
