import json

import pytest
from shell import hyperlvq

from hyperlvq.cli.text import printable

TABLE = """\
size\x1b[2J,colo\u202eur,kind
1,red,a
2,blue,b
3,red,a
4,blue,b
5,red,a
6,blue,b
"""


@pytest.mark.parametrize("character", ["\x1b", "\x9b", "\x00", "\r", "\n", "\u202e", "\u2066"])
def test_what_moves_a_terminal_is_shown_as_its_code(character):
    assert printable(f"a{character}b") == f"a\\u{ord(character):04x}b"


def test_letters_of_any_language_are_shown_as_they_are():
    text = "größe 大小 حجم नाप 🙂 µ — a\\b"

    assert printable(text) == text


def test_half_a_letter_can_be_written_anywhere():
    assert printable("\udcff").encode() == b"\\udcff"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_names_of_columns_do_not_reach_a_terminal_raw(tmp_path, table):
    model = tmp_path / "a.hlvq"
    code, output, errors = hyperlvq("fit", table, "--target", "kind", "-o", model, "--cv", "2")
    shown = hyperlvq("show", model)[1]

    assert code == 0
    for line in f"{output}\n{errors}\n{shown}".split("\n"):
        assert line.isprintable()


def test_json_of_such_names_is_the_same_json(tmp_path, table):
    model = tmp_path / "a.hlvq"
    hyperlvq("fit", table, "--target", "kind", "-o", model, "--cv", "0")
    output = hyperlvq("show", model, "--json")[1]

    names = [column["name"] for column in json.loads(output)["columns"]]
    assert names == ["size\x1b[2J", "colo\u202eur"]
    assert "\u202e" not in output


def test_sentence_about_such_a_name_is_one_printable_line(tmp_path):
    code, _, errors = hyperlvq("fit", tmp_path / "no\x1b[2J\nthing.csv", "--target", "kind")

    assert code == 2
    assert errors[:-1].isprintable()
