"""The page in Firefox, as far as WebDriver BiDi goes, which tells of no downloads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from web import conftest
from web.nightly import test_modules, test_paths

pytestmark = pytest.mark.nightly
modules = test_modules.modules


@pytest.fixture(scope="module")
def browser(playwright: Any) -> Iterator[Any]:
    """Return Debian's Firefox, which Playwright drives by WebDriver BiDi."""
    path = conftest.program("firefox-esr")
    opened = playwright.firefox.launch(executable_path=path, channel="moz-firefox", env=conftest.ITS_OWN)
    yield opened
    opened.close()


test_finds = test_paths.test_finds_packages_as_one_types
test_narrows = test_paths.test_narrows_by_filters_and_keeps_them_in_the_address
test_says_what_is_newest = test_paths.test_says_what_is_newest
test_looks = test_paths.test_looks_at_a_package_as_show_does
test_shows_objects = test_paths.test_shows_objects_and_lights_the_fields_of_a_parameter
test_shows_files = test_paths.test_shows_files_with_the_bytes_that_they_have
test_lists_versions = test_paths.test_lists_versions_and_why_one_is_yanked
test_sets_values = test_paths.test_sets_values_and_the_command_line_takes_them
test_verifies = test_paths.test_a_pasted_key_verifies_and_another_one_refuses
test_compares = test_paths.test_compares_two_versions
test_exports = test_paths.test_an_export_needs_no_server
test_reads_another_origin = test_paths.test_reads_a_channel_of_another_origin
test_judges = test_modules.test_a_browser_judges_the_same_cases
test_trusts = test_modules.test_a_browser_trusts_what_packyard_trusts
