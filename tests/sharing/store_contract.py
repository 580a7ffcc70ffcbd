"""What every store that can be written to must do. A store joins by a class like

class TestDirectoryStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store: ...
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError
from packyard.core.files.regular import LIMIT
from packyard.sharing.stores.store import MissingStoreError, NotFoundError, Store, TooLongError

BAD_KEYS = ["", "/a", "a/", "a//b", "../a", "a/../b", "a/./b", ".a", "a/.b", "a\\b", "a\nb", "a b", "a\0", "é", "a\n"]


class StoreContract:
    """The tests; a subclass gives the fixture ``store``, empty for each test."""

    def test_gets_what_was_put(self, store: Store) -> None:
        for key, data in (("v1.0+x/a_b-c.tar.gz", b"\0\r\n\xff"), ("empty", b"")):
            for _ in range(2):
                store.put(key, data)
            assert store.get(key) == data
        assert store.list("") == ["empty", "v1.0+x/a_b-c.tar.gz"]

    def test_refuses_what_is_longer_than_whoever_asks_can_use(self, store: Store) -> None:
        store.put("a", b"12")
        assert store.get("a", limit=2) == b"12"
        with pytest.raises(TooLongError, match="is larger than 1 bytes"):
            store.get("a", limit=1)

    def test_refuses_to_put_other_bytes_and_keeps_the_first(self, store: Store) -> None:
        store.put("a/b", b"1")
        with pytest.raises(ConflictError) as caught:
            store.put("a/b", b"2")
        assert Digest.of(b"1") in str(caught.value)
        assert Digest.of(b"2") in str(caught.value)
        assert store.get("a/b") == b"1"

    def test_what_is_larger_than_other_objects_may_be_is_put_twice(self, store: Store) -> None:
        data = bytes(LIMIT + 1)
        for _ in range(2):
            store.put("1.0/p.tar.gz", data)
        with pytest.raises(ConflictError):
            store.put("1.0/p.tar.gz", b"1" + data[1:])

    @pytest.mark.parametrize("key", ["missing", "a", "a/b/c", "a/missing"])
    def test_says_that_an_object_is_not_there(self, store: Store, key: str) -> None:
        store.put("a/b", b"1")
        with pytest.raises(NotFoundError):
            store.get(key)

    def test_an_empty_store_has_nothing(self, store: Store) -> None:
        assert store.list("") == []
        with pytest.raises((NotFoundError, MissingStoreError)):
            store.get("a")

    def test_lists_sorted_what_begins_with_a_prefix(self, store: Store) -> None:
        for key in ("b/2", "b/1", "b-1", "bc/d/e", "a"):
            store.put(key, b"")
        assert store.list("") == ["a", "b-1", "b/1", "b/2", "bc/d/e"]
        assert store.list("b") == ["b-1", "b/1", "b/2", "bc/d/e"]
        assert store.list("b/") == ["b/1", "b/2"]
        assert store.list("bc/d/e") == ["bc/d/e"]
        assert store.list("z/") == []

    def test_swaps_from_nothing_and_from_what_is_expected(self, store: Store) -> None:
        store.swap("index/head", b"1", None)
        store.swap("index/head", b"2", Digest.of(b"1"))
        assert store.get("index/head") == b"2"

    @pytest.mark.parametrize("expected", [None, Digest.of(b"0")])
    def test_refuses_to_swap_what_is_not_expected(self, store: Store, expected: Digest | None) -> None:
        store.swap("head", b"1", None)
        with pytest.raises(ConflictError, match="changed meanwhile"):
            store.swap("head", b"2", expected)
        assert store.get("head") == b"1"

    @pytest.mark.parametrize("key", BAD_KEYS)
    def test_refuses_keys_that_could_lead_elsewhere(self, store: Store, key: str) -> None:
        for verb in (lambda: store.put(key, b""), lambda: store.get(key), lambda: store.swap(key, b"", None)):
            with pytest.raises(InputError, match="is not a key"):
                verb()

    @pytest.mark.parametrize("prefix", ["../", "a/../", "/etc/", ".x/"])
    def test_lists_nothing_from_elsewhere(self, store: Store, prefix: str) -> None:
        with pytest.raises(InputError, match="is not a key"):
            store.list(prefix)

    def test_removes_what_is_in_the_index_and_may_put_it_again(self, store: Store) -> None:
        store.put("index/pending/a", b"1")
        store.put("index/pending/b", b"1")
        store.remove("index/pending/a")
        store.remove("index/pending/a")
        store.remove("index/missing")
        assert store.list("index/") == ["index/pending/b"]
        with pytest.raises(NotFoundError):
            store.get("index/pending/a")
        with pytest.raises(ConflictError, match="changed meanwhile"):
            store.swap("index/pending/a", b"2", Digest.of(b"1"))
        store.put("index/pending/a", b"2")
        assert store.get("index/pending/a") == b"2"
        assert store.list("index/") == ["index/pending/a", "index/pending/b"]

    @pytest.mark.parametrize("verb", ["put", "swap"])
    def test_of_many_that_write_at_once_one_wins(self, store: Store, verb: str) -> None:
        if not store.keeps_conditions():
            pytest.skip("not promised")
        if verb == "swap":
            store.swap("head", b"start", None)

        def write(number: int) -> int | None:
            data = b"%d" % number
            try:
                store.put("head", data) if verb == "put" else store.swap("head", data, Digest.of(b"start"))
            except ConflictError:
                return None
            return number

        with ThreadPoolExecutor(16) as pool:
            (winner,) = (number for number in pool.map(write, range(16)) if number is not None)
        assert store.get("head") == b"%d" % winner
