"""packyard is on no package index: nothing of the repository installs it by a name that anybody could register."""

import re

import real

#: A tool that installs, and packyard by its name behind it; where it is from may stand behind an `@`.
_BY_NAME = re.compile(
    r"(?:pip3?|pipx|uv|uvx|poetry|pdm|conda|easy_install)\b[^\n;|&`]*?[\s'\"]packyard(?:\[[\w,]*\])?"
    r"(?![\w./\[\\-])(?!['\"]?\s*(?:@|--?from)\s*\S)"
)
_INSTALL = re.compile(r"\b(install|run|add|inject|uvx|download)\b")


def by_name(text: str) -> list[str]:
    return [found for found in _BY_NAME.findall(text) if _INSTALL.search(found)]


def test_nothing_installs_packyard_by_its_name() -> None:
    found = {}
    for name in real.checkout_files():
        if name.endswith((".md", ".py", ".yml", ".yaml", ".toml", ".sh", "file", "run")):
            text = (real.REPOSITORY / name).read_text("utf-8", "replace")
            if "packyard" in text and not name.endswith("test_sources.py"):
                found[name] = by_name(text)
    assert {name: lines for name, lines in found.items() if lines} == {}
