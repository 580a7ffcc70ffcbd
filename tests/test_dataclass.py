"""Our `dataclass` and `replace` answer as the standard library's do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from packyard.dataclass import dataclass, replace


@dataclass(frozen=True, slots=True)
class Ours:
    """One of ours."""

    name: str
    size: int = 3

    @property
    def text(self) -> str:
        return f"{self.name} {self.size}"


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs:
    """One of theirs."""

    name: str
    size: int = 3


@dataclass(slots=True)
class Counter:
    """One that can be changed."""

    count: int = 0


BOTH: Any = pytest.mark.parametrize("cls", [Ours, Theirs])


@BOTH
def test_takes_values_by_place_and_by_name_and_has_defaults(cls: Any) -> None:
    assert (cls("a").name, cls("a").size) == ("a", 3)
    assert (cls("a", 4).size, cls(size=5, name="a").size) == (4, 5)


@BOTH
@pytest.mark.parametrize("arguments", [((), {}), (("a", 1, 2), {}), (("a",), {"sise": 1})])
def test_refuses_values_too_few_too_many_and_unknown(cls: Any, arguments: Any) -> None:
    values, named = arguments
    with pytest.raises(TypeError):
        cls(*values, **named)


@BOTH
def test_equal_values_are_equal_and_hash_alike(cls: Any) -> None:
    assert cls("a") == cls("a", 3) != cls("a", 4)
    assert len({cls("a"), cls("a", 3), cls("b")}) == 2
    assert cls("a") != ("a", 3)


@BOTH
def test_a_frozen_object_cannot_be_changed(cls: Any) -> None:
    item = cls("a")
    with pytest.raises(AttributeError):
        item.size = 4
    with pytest.raises(AttributeError):
        del item.size
    assert item.size == 3


@BOTH
def test_survives_pickle_and_copies(cls: Any) -> None:
    item = cls("a", 4)
    assert pickle.loads(pickle.dumps(item)) == copy.deepcopy(item) == copy.copy(item) == item


def test_both_look_alike() -> None:
    assert repr(Ours("a")) == repr(Theirs("a")).replace("Theirs", "Ours")
    assert Ours.__doc__ == "One of ours."
    assert not hasattr(Ours("a"), "__dict__")
    assert Ours("a").text == "a 3"


def test_replace_copies_with_other_values() -> None:
    item = Ours("a")
    assert replace(item, size=4) == Ours("a", 4)
    assert item == Ours("a")
    with pytest.raises(TypeError):
        replace(item, sise=4)


def test_what_is_not_frozen_can_be_changed_and_has_no_hash() -> None:
    counter = Counter()
    counter.count += 1
    assert counter == Counter(1)
    with pytest.raises(TypeError):
        hash(counter)
