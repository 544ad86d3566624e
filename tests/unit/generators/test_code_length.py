"""How long code is."""

import pytest

from rlvr_envs.generators.code_length import code_length


@pytest.mark.parametrize(
    ("source", "length"),
    [("", 0), ("a_1", 1), ("print(2 ** 10)", 7), ("x = 'a b'\n\n  y", 7)],
)
def test_words_numbers_and_signs_are_counted(source, length):
    assert code_length(source) == length
