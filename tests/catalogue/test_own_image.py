"""The option own-image: what runs in the image of IMAGE_VERSION runs in the user's, and nothing else changes."""

import json
import re

import pytest

from catalogue.usecases import build_all, each_package, option_names, shipped
from packyard.writing.source.package import Package
from real import Kustomize

OPTION = "own-image"


@pytest.mark.xdist_group("catalogue")  # so that its packages are composed once
@each_package
def test_containers_of_the_program_get_the_image_of_the_user(package: Package, kustomize5: Kustomize) -> None:
    having = [each for each in package.use_cases if OPTION in option_names(package, each)]
    assert having == [each for each in package.use_cases if "IMAGE_VERSION" in shipped(package, each).setters]
    for directory in (shipped(package, each) for each in having):
        image = directory.option_setters["OWN_IMAGE"].example
        ready = directory.set({**directory.examples, "IMAGE_VERSION": "of-the-zoo"})
        choices = [(ready, options) for options in ([], [OPTION], [OPTION, "debug"], ["debug", OPTION])]
        before, after, first, last = build_all(kustomize5, "ml", choices)
        expected, count = re.subn(r'"image": "[^"]*:of-the-zoo-[^"]*"', f'"image": "{image}"', json.dumps(before))
        assert count >= 2
        assert after == json.loads(expected)
        assert first == last
