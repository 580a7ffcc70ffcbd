"""docs/importing.md: its table has every verb and option of the old tools, and names no verb that packyard lacks."""

from __future__ import annotations

import re

from documents import pages
from packyard.cli.verbs import VERBS

PAGE = (pages.DOCS / "importing.md").read_text("utf-8")
#: What the tools of the model zoo understood, at v2.7.0.
THEIRS = {
    "model-builder": "build commands completion frameworks generate-deployment generate-dockerfile "
    "generate-documentation images init-spec install-completion make models package packages run-test-suite "
    "-c --command -h --help --verbose --dry-run -f --framework",
    "environment": "MODEL_DIR MODEL_PACKAGE_DIR LOCAL_REPO TENSORFLOW_TAG TENSORFLOW_IMAGE TAG_PREFIX MODEL_WORKSPACE "
    "IMAGE_LIST_FILE TEST_DIR MODEL_URL GIT_BRANCH GIT_COMMIT XDG_CONFIG_HOME MODEL_BUILDER_SPEC_HOME http_proxy "
    "https_proxy no_proxy",
    "assembler.py": "hub_username hub_password hub_timeout repository hub_repository upload_to_hub print_models "
    "build_packages construct_dockerfiles generate_deployments generate_documentation generate_deployments_tests "
    "keep_temp_dockerfiles build_images list_images list_packages run_tests_path stop_on_failure dry_run "
    "exclude_tags_matching only_tags_matching model_dir output_dir dockerfile_dir deployment_dir partial_dir release "
    "arg nocache spec_dir framework use_case device generate_new_spec model_download verbose",
    "mlops": "deploy undeploy status logs exec single-node multi-node --dry-run options completion install-completion "
    "-h",
    "devops": "install uninstall status options completion install-completion -h",
}


def documented() -> dict[str, list[str]]:
    """Return the words of each tool."""
    found: dict[str, list[str]] = {}
    tool = ""
    for name, words, _, _ in pages.rows(PAGE, "| tool | its words"):
        tool = name.partition(",")[0] or tool
        found.setdefault(tool, []).extend(re.findall(r"`([^`]+)`", words))
    return found


def test_every_verb_and_option_of_the_old_tools_is_in_the_table_once() -> None:
    assert {tool: sorted(words) for tool, words in documented().items()} == {
        tool: sorted(words.split()) for tool, words in THEIRS.items()
    }


def test_each_has_a_verb_of_ours_or_the_reason_why_there_is_none() -> None:
    for _, words, ours, remark in pages.rows(PAGE, "| tool | its words"):
        assert ours or remark, words
        for verb in re.findall(r"`packyard ([a-z]+)", ours):
            assert verb in VERBS, f"{words}: packyard {verb}"
