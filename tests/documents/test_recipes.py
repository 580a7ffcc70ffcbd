"""The recipes for CI fit the schemas of their systems, and their steps publish a tag, signed, with its commit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

import real
import tiny
from packyard.channel import open_store
from packyard.channel.index import stored
from packyard.channel.trust import provenance
from packyard.channel.trust.keys import SigningKey, Trust
from running import environment, programs_dir

RECIPES = real.REPOSITORY / "docs" / "recipes"
KEY = SigningKey.new()
SECRETS = {"PACKYARD_SIGNING_KEY": KEY.to_pem(b"secret").decode(), "PACKYARD_KEY_PASSPHRASE": "secret"}
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
    """Put the secrets in; whatever a step needs of a bucket, a folder does without."""
    values = {name: SECRETS.get(name, "") if "secrets." in text else text for name, text in env.items()}
    assert all("secrets." not in text or f"secrets.{name} " in text for name, text in env.items())
    return values


@pytest.mark.parametrize(
    ("name", "schema"), [("github-actions.yml", "github-workflows"), ("gitlab-ci.yml", "gitlab-ci")]
)
def test_a_recipe_fits_the_schema_of_its_system(name: str, schema: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", RECIPES / name]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
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
    mine = {"PATH": f"{bin_dir}:/usr/bin:/bin", "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    for step, env in steps(yaml.safe_load((RECIPES / name).read_text())):
        found = {**env, "PACKYARD_CHANNEL": str(channel), "GITHUB_REF_NAME": "v1.2.0", "CI_COMMIT_TAG": "v1.2.0"}
        done = subprocess.run(
            ["bash", "-e", "-c", step], cwd=root, env=environment(**mine, **found), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert {line.strip() for line in (tmp_path / "python").read_text().splitlines()} == {
        "-m pip install packyard[cloud,check]"
    }
    store, trusted = open_store(str(channel)), Trust.of(KEY.public)
    listed = stored.read(store, trusted)
    release = listed.release("1.2.0")
    assert release is not None
    assert release.closed
    (entry,) = listed.entries
    key = provenance.key(entry.name, entry.version)
    made, opened = provenance.open(store.get(key), trusted, file=key)
    assert opened.signers
    assert made.source is not None
    assert (made.source.commit, made.source.dirty) == (git("rev-parse", "HEAD").strip(), False)
