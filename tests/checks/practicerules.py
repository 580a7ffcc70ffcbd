"""The names of the rules of good practice, as the code of that family has them."""

from __future__ import annotations

import inspect
import re

from packyard.checks import practice

RULES = frozenset(re.findall(r'(?:error|warning)\("([-a-z]+)"', inspect.getsource(practice)))
