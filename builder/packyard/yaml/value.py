"""What `dataclasses` would give to the few classes that `set` needs; importing it takes a fifth of a set's time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, TypeVar

    Self = TypeVar("Self", bound="Value")


class Value:
    """An object that is its slots: equal where they are equal, and not changed once it is made."""

    __slots__: ClassVar[tuple[str, ...]] = ()

    def replaced(self: Self, **changes: Any) -> Self:
        """Return a copy in which some slots have other values."""
        slots = {slot: getattr(self, slot) for slot in self.__slots__}
        return type(self)(**{**slots, **changes})

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(getattr(self, slot) == getattr(other, slot) for slot in self.__slots__)

    __hash__ = None  # type: ignore[assignment]  # some slots hold mappings

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{slot}={getattr(self, slot)!r}' for slot in self.__slots__)})"
