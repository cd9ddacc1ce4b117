import pytest

from hyperlvq.cli.options import aligned, fact_lines, readable_size
from hyperlvq.writing import printable


@pytest.mark.parametrize(
    "character", ["\x1b", "\x9b", "\x00", "\r", "\n", "\u202e", "\u2066", "\udcff"]
)
def test_what_moves_a_terminal_or_is_no_letter_is_shown_as_its_code(character):
    assert printable(f"a{character}b") == f"a\\u{ord(character):04x}b"


def test_letters_of_any_language_are_shown_as_they_are():
    text = "größe 大小 حجم नाप 🙂 µ — a\\b"

    assert printable(text) == text


def test_tables_and_sizes_are_as_people_write_them():
    assert aligned([["class", "rows"], ["a", "120"]]) == ["class  rows", "a       120"]
    assert fact_lines([("a", "1"), ("long", "2")]) == ["a     1", "long  2"]
    assert [*map(readable_size, (812, 75_127, 2_400_000))] == ["812 bytes", "75 kB", "2.4 MB"]
