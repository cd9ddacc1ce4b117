import pytest

from hyperlvq.cli.text import printable


@pytest.mark.parametrize(
    "character", ["\x1b", "\x9b", "\x00", "\r", "\n", "\u202e", "\u2066", "\udcff"]
)
def test_what_moves_a_terminal_or_is_no_letter_is_shown_as_its_code(character):
    assert printable(f"a{character}b") == f"a\\u{ord(character):04x}b"


def test_letters_of_any_language_are_shown_as_they_are():
    text = "größe 大小 حجم नाप 🙂 µ — a\\b"

    assert printable(text) == text
