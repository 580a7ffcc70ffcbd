"""Which names of setters keep their values out of records and messages."""

import pytest

from packyard.core.kubernetes.plain_secrets import is_withheld


@pytest.mark.parametrize("setter", ["TOKEN", "token_a", "API_KEY_OF_THE_TEAM", "db_password", "Hub_Token_2"])
def test_a_secret_anywhere_in_a_name_withholds_its_value(setter: str) -> None:
    assert is_withheld(setter)


@pytest.mark.parametrize("setter", ["TOKENS", "MAX_TOKENIZERS", "S3_SECRETS", "KEY", "PRIVATE"])
def test_other_names_withhold_nothing(setter: str) -> None:
    assert not is_withheld(setter)
