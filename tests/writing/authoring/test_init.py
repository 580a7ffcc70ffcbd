"""`packyard init`: a workspace that works at once, and nothing of what was there is touched."""

import json
from pathlib import Path

import yaml

import real
import tiny
from tiny import done


def test_flags_add_recipes_that_are_tested_and_schemas_also_later(tmp_path: Path) -> None:
    done("init", tmp_path, "--name", "models", "--github")
    done("init", tmp_path, "--gitlab", "--editor")
    recipes = real.REPOSITORY / "docs/recipes"
    for file, recipe in ((".github/workflows/publish.yml", "github-actions.yml"), (".gitlab-ci.yml", "gitlab-ci.yml")):
        assert (tmp_path / file).read_bytes() == (recipes / recipe).read_bytes()
    for file in json.loads((tmp_path / ".vscode/settings.json").read_text())["yaml.schemas"]:
        assert (tmp_path / file).is_file()
    described = yaml.safe_load((tmp_path / "packyard.yaml").read_text())
    assert (described["name"], described["prefix"]) == ("models", "use-cases")


def test_what_is_there_stays(tmp_path: Path) -> None:
    tiny.write(tmp_path / "LICENSE", "Ours.\n")
    tiny.write(tmp_path / ".gitlab-ci.yml", "ours: {}\n")
    assert ".gitlab-ci.yml: exists already" in tiny.refused("init", tmp_path, "--gitlab")
    assert sorted(file.name for file in tmp_path.iterdir()) == [".gitlab-ci.yml", "LICENSE"]
    (tmp_path / ".gitlab-ci.yml").unlink()
    assert done("init", tmp_path).splitlines() == [str(tmp_path / name) for name in ("packyard.yaml", ".gitignore")]
    assert (tmp_path / "LICENSE").read_text() == "Ours.\n"
    assert "exists already" in tiny.refused("init", tmp_path)


def test_nothing_is_written_through_a_link_that_leads_elsewhere(tmp_path: Path) -> None:
    for name, target in ((".github", "elsewhere"), ("LICENSE", "nowhere")):
        folder = tmp_path / f"zoo-{target}"
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        folder.mkdir()
        (folder / name).symlink_to(tmp_path / target)
        assert "outside of" in tiny.refused("init", folder, "--github")
        assert [file.name for file in folder.iterdir()] == [name]
    assert not list((tmp_path / "elsewhere").iterdir())
