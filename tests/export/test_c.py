"""The C text and its files."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from export.firmware import (
    AVR,
    CLANG,
    EMULATED,
    HOST,
    TARGETS,
    WARNINGS,
    compile_object,
    execute,
    on_every,
    require_tools,
    self_test,
)
from export.random_models import VOTE, Settings, draw, draw_comparing, write
from hypothesis import example, given
from hypothesis import strategies as st

from hyperlvq import HyperLVQClassifier, make_classifier
from hyperlvq.checks import InputError
from hyperlvq.export import to_c
from hyperlvq.export.budget import predict_budget
from hyperlvq.export.c_source import (
    LINE_LENGTH,
    comment,
    float_literal,
    integer_literal,
    string_literal,
    table,
)
from hyperlvq.export.layout import layout_of

SMALL = Settings("glvq", "int16", 8, 5, 40, 3, 3, 2)
COMPARING = Settings(VOTE, "float", 8, 5, 40, 0, 3, 2, "comparisons")
SOFT_FLOAT = re.compile(r"__aeabi_(f|d|[iul]+2[fd])\w*|__\w+[sd]f[23i]\w*")
CLASS_NAMES = [
    'quote " and \\ backslash',
    "trigraphs ??/ ??= ???",
    "emoji 🙂1",
    "näïve",
    "ends in \\",
    "%s\t*/",
    "é0f",
    "",
    "x" * 200,
]


@pytest.fixture
def model(iris):
    return make_classifier("intrvfl", "centroids", n_units=40, random_state=0).fit(*iris)


def test_files_are_named_after_the_model_and_leave_others_alone(model, iris, tmp_path):
    (tmp_path / "README.md").write_text("mine")
    for name in ("one", "two"):
        written, again = (
            to_c(model, tmp_path / d, name=name, vectors=iris[0]) for d in (".", "a/b")
        )
        names = [f"{name}.h", f"{name}.c", f"{name}_selftest.c", f"{name}.md"]
        assert written == [tmp_path / file for file in names]
        assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]

    assert (tmp_path / "README.md").read_text() == "mine"
    to_c(model, tmp_path / "a" / "b", name="two")  # the self-test of an earlier model does not stay
    assert not (tmp_path / "a" / "b" / "two_selftest.c").exists()
    for name in ("one", "two"):
        assert (tmp_path / f"{name}.md").read_text().startswith(f"# {name}\n")
        assert f"See {name}.md for how to build it." in (tmp_path / f"{name}.c").read_text()


def test_nothing_is_written_unless_all_can_be(model, tmp_path):
    (tmp_path / "m.md").mkdir()
    (tmp_path / "taken").write_text("")

    for folder, vectors, message in (
        (tmp_path, None, r"m\.md cannot be written"),
        (tmp_path / "taken", None, "taken cannot be created"),
        (tmp_path, np.empty((0, 4)), "vectors must"),
        (tmp_path, np.full((1, 4), np.inf), "vectors must be finite"),
    ):
        with pytest.raises(InputError, match=message):
            to_c(model, folder, name="m", vectors=vectors)
    assert {path.name for path in tmp_path.iterdir()} == {"m.md", "taken"}


def test_header_names_features_ranges_thresholds_and_classes(iris, rng, tmp_path):
    table = pd.DataFrame(iris[0], columns=["long*/", "wide\\", "new\nline", "naïve ??/"])
    names = np.array(["one", "two", "*/ three"])[iris[1]]
    model = make_classifier("intrvfl", "centroids", n_units=40, random_state=0).fit(table, names)
    to_c(model, tmp_path, name="net")
    X = np.column_stack([np.arange(40), np.full(40, 3)])
    comparing = HyperLVQClassifier(1, n_units=200, random_state=0).fit(X, X[:, 0] > 20)
    to_c(comparing, tmp_path, name="vote", input="int16")

    header, of_vote = ((tmp_path / f"{name}.h").read_text() for name in ("net", "vote"))
    assert "x[0]  long??: 4.3 to 7.9" in header
    assert "0  ?? three" in header
    assert "x[0]  x0: 1 to 39\n" in of_vote
    assert "x[1]  x1: not used\n" in of_vote
    compile_object(HOST, tmp_path)


@pytest.mark.parametrize("trainable", [False, True])
@on_every([HOST, CLANG])
def test_names_of_classes_come_out_of_c_as_they_went_in(target, trainable, rng, tmp_path):
    target.require()
    X, y = rng.uniform(size=(4 * len(CLASS_NAMES), 3)), np.array(CLASS_NAMES * 4)
    model = make_classifier("intrvfl", "perceptron", n_units=16, random_state=0).fit(X, y)
    to_c(model, tmp_path, name="net", trainable=trainable)
    program = tmp_path / "names"
    execute([*target.compiler, *WARNINGS, f"-I{tmp_path}", TARGETS / "names.c", "-o", program])

    said = subprocess.run([program], capture_output=True, check=True).stdout
    assert said.decode().split("\n")[:-1] == sorted(CLASS_NAMES)


def test_two_models_link_together_in_c_plus_plus(model, tmp_path):
    require_tools("g++")
    for name in ("one", "two"):
        to_c(model, tmp_path, name=name)
    objects = [compile_object(HOST, tmp_path, name=name) for name in ("one", "two")]
    sources = [f"-I{tmp_path}", TARGETS / "both.cpp", *objects]

    execute(["g++", "-Wall", "-Wextra", "-Werror", *sources, "-o", tmp_path / "both"])
    execute([tmp_path / "both"])


@on_every(EMULATED)
@pytest.mark.parametrize(
    "settings",
    [
        *(draw(seed, 40, 200, 4000) for seed in range(6)),
        *(draw_comparing(seed, 40, 100, 4000) for seed in range(3)),
    ],
    ids=str,
)
def test_names_are_prefixed_no_ram_is_static_and_only_scaling_of_floats_computes_in_float(
    settings, target, tmp_path
):
    write(settings, tmp_path)
    source = re.sub(r"/\*.*?\*/", "", (tmp_path / "net.c").read_text(), flags=re.DOTALL)
    takes_floats = settings.input == "float"

    nm = execute([target.tool("nm"), compile_object(target, tmp_path)])
    symbols = [line.split()[-2:] for line in nm.splitlines()]
    own = [each for each in symbols if not each[1].startswith(("$", "__", "."))]
    assert all(name.startswith("net_") for kind, name in own if kind in "TtDdBbRr")
    assert not [name for kind, name in own if kind in "DdBb"]
    assert any(SOFT_FLOAT.fullmatch(name) for _, name in symbols) == (
        takes_floats and settings.hidden == "intrvfl"
    )
    assert bool(re.search(r"\b(float|double)\b", source)) == takes_floats


def budget_row(folder, what):
    """Return what the page says of the three targets."""
    cells = re.search(rf"^\| {what}.*? \| (.*) \|$", (folder / "net.md").read_text(), re.M)[1]
    return cells.split(" | ")


@pytest.mark.parametrize("settings", [SMALL, COMPARING], ids=str)
def test_page_states_the_predicted_budget_and_compile_lines_that_work(settings, tmp_path):
    plan = write(settings, tmp_path, n_samples=40)
    budgets = [predict_budget(plan, target) for target in ("cortex-m3", "riscv32", "avr")]
    rows = ("flash: tables and code", "RAM: static", "RAM: stack", "instructions")
    for row, field in zip(rows, ("flash", "ram", "stack", "instructions"), strict=True):
        assert budget_row(tmp_path, row) == [f"{getattr(b, field):,}" for b in budgets]

    lines = re.findall(r"^[\w-]*gcc .*", (tmp_path / "net.md").read_text(), re.M)
    assert len(lines) == 5
    for line in lines:
        require_tools(line.split()[0])
        done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("settings", "table"),
    [
        (Settings("centroids", "int16", 8, 40, 2000, 3, 26, 1), "weights"),
        (Settings("centroids", "float", 8, 5, 3000, 0, 2, 1, "comparisons"), "thresholds"),
    ],
    ids=str,
)
def test_tables_beyond_an_avr_are_refused_by_a_sentence(settings, table, tmp_path):
    AVR.require()
    plan = write(settings, tmp_path)
    n_bytes = layout_of(plan).table_bytes[table]
    sentence = f"the table of {table} has {n_bytes} bytes, but an AVR can read at most 32767"

    assert f"It does not fit an AVR: {sentence}." in (tmp_path / "net.md").read_text()
    assert budget_row(tmp_path, "flash: tables and code")[2] == "does not fit"
    with pytest.raises(AssertionError, match=sentence):
        compile_object(AVR, tmp_path)


def test_fast_math_is_refused(model, tmp_path):
    to_c(model, tmp_path, name="net")

    with pytest.raises(AssertionError, match="leave out -ffast-math"):
        compile_object(HOST, tmp_path, "-ffast-math")


def test_fused_multiply_adds_change_nothing(tmp_path):
    cpu = Path("/proc/cpuinfo")
    if not cpu.is_file() or "fma" not in cpu.read_text().split():
        pytest.skip("needs a processor with fused multiply-adds")
    write(Settings("glvq", "float", 8, 20, 500, 3, 4, 1), tmp_path, n_samples=40)

    assert self_test(HOST, tmp_path, "-O3", "-mfma", "-ffp-contract=fast") == 0


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(-(2**31), 2**31 - 1))
def test_literals_of_numbers_read_back_exactly(real, whole):
    assert re.fullmatch(r".*\..*f", float_literal(np.float32(real)))
    assert np.float32(float_literal(np.float32(real))[:-1]) == np.float32(real)
    # Digits, signs and brackets only.
    assert eval(re.sub(r"INT(32|64)_C", "", integer_literal(whole))) == whole


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (-(2**31), "(-INT32_C(2147483647) - 1)"),
        (-(2**15), "(-32767 - 1)"),
        (2**15 - 1, "32767"),
        (2**15, "INT32_C(32768)"),
        (2**31 - 1, "INT32_C(2147483647)"),
        (2**31, "INT64_C(2147483648)"),
        ("é0", r'"\303\2510"'),
        ("a\n1", r'"a\0121"'),
        ("??/", r'"\?\?/"'),
        ("\ud800", r'"\?"'),
        (" ~\x7f", r'" ~\177"'),
    ],
)
def test_literals_are_as_wide_as_needed_and_run_into_nothing_that_follows(value, literal):
    assert (string_literal if isinstance(value, str) else integer_literal)(value) == literal


@pytest.mark.parametrize("literal", ["1", "0xFFFFFFFF", "x" * 89])
def test_lines_of_a_table_hold_as_many_literals_as_fit(literal):
    *full, last = table([literal] * 100).splitlines()

    assert max(map(len, full)) <= LINE_LENGTH
    assert min(map(len, full)) + len(f" {literal},") > LINE_LENGTH
    assert sum(line.count(",") for line in (*full, last)) == 100


@given(st.text() | st.text("?\\/*\n"))
@example("?\\/")
@example("*//")
def test_comments_stay_comments(text):
    line = comment(text)

    assert not re.search(r"\*/|/\*|\?\?/|\\|\n|\r", line)
    assert line.isprintable()
