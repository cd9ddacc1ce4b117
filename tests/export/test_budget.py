"""Budgets: predicted before building, measured in linked firmware and emulators."""

import pytest
from export.firmware_cost import (
    BOARDS,
    counted_instructions,
    exported,
    linked_flash,
    samples_within,
    used_stack,
)
from export.random_models import Settings, draw, plan_and_samples

from hyperlvq.checks import InputError
from hyperlvq.export.budget import (
    Sizes,
    largest_units,
    model_tables,
    parse_size,
    predict_budget,
    table_bytes,
)
from hyperlvq.export.layout import Layout
from hyperlvq.export.words import LARGEST_AVR_TABLE, LARGEST_AVR_TABLES, avr_complaint

TOLERANCE = 0.10
MOST_SPARE_STACK = 80
SMALL = {"most_features": 60, "most_units": 300, "most_weights": 8000}
LARGE = {"most_features": 170, "most_units": 1500, "most_weights": 60_000}
#: None of these models was among those that the figures were fitted to.
MODELS = {
    "cortex-m3": [draw(seed, **LARGE) for seed in range(1800, 1812)],
    "riscv32": [draw(seed, **LARGE) for seed in range(1820, 1826)],
    "avr": [draw(seed, **SMALL) for seed in range(1840, 1846)],
}
CASES = [(target, settings) for target, drawn in MODELS.items() for settings in drawn]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def built(request, tmp_path_factory):
    target, settings = request.param
    plan, _ = plan_and_samples(settings)
    return target, plan, exported(plan, target, tmp_path_factory.mktemp("built"))


def test_flash_is_as_predicted(built):
    target, plan, model = built

    assert predict_budget(plan, target).flash == pytest.approx(
        linked_flash(target, model), rel=TOLERANCE
    )


def test_instructions_are_as_predicted(built):
    target, plan, model = built

    assert predict_budget(plan, target).instructions == pytest.approx(
        counted_instructions(plan, samples_within(plan), target, model), rel=TOLERANCE
    )


def test_stack_is_within_what_is_predicted(built):
    target, plan, model = built
    used = used_stack(model)

    assert used <= predict_budget(plan, target).stack <= used + MOST_SPARE_STACK


def test_image_is_flash_and_the_least_program_around_it():
    sizes = Sizes.planned(10, 64, 3)

    budgets = [predict_budget(sizes, target) for target in BOARDS]
    assert all(0 < budget.image - budget.flash < 1024 for budget in budgets)


@pytest.mark.parametrize("seed", range(900, 906))
def test_tables_are_those_of_the_layout(seed):
    plan, _ = plan_and_samples(draw(seed, **SMALL))
    sizes = Sizes.of(plan)

    scaling = sizes.scaling.table_bytes(plan.n_features, 1)
    classes = sizes.n_outputs * sizes.class_bytes
    assert table_bytes(sizes, True) == sum(Layout(plan).table_bytes.values()) + scaling + classes


@pytest.mark.parametrize("kind", ["float", "int16", "int32"])
def test_a_planned_model_takes_at_least_as_much_as_the_fitted_one(kind):
    settings = Settings("glvq", kind, 8, 20, 128, 3, 4, 2)
    plan, _ = plan_and_samples(settings)
    planned = Sizes.planned(20, 128, 4, 2, clip=3, bits=8, input=kind)

    for target in BOARDS:
        assert predict_budget(planned, target).flash >= predict_budget(plan, target).flash


@pytest.mark.parametrize(("n_units", "score_bits"), [(2730, 32), (2731, 64)])
def test_planned_scores_have_64_bits_where_32_may_not_hold_them(n_units, score_bits):
    assert Sizes.planned(10, n_units, 3, bits=16).score_bits == score_bits


@pytest.mark.parametrize("target", BOARDS)
def test_the_largest_number_of_units_fits_and_the_next_does_not(target):
    limits = {"max_flash": parse_size("16k"), "max_ram": parse_size("2k")}
    n_units = largest_units(64, 10, 2, target=target, **limits)

    def flash(n_units):
        return predict_budget(Sizes.planned(64, n_units, 10, 2), target).flash

    assert n_units % 32 == 0
    assert flash(n_units) <= limits["max_flash"] < flash(n_units + 32)


@pytest.mark.parametrize("shape", [(64, 10, 3), (300, 2, 1), (40, 26, 1), (100, 12, 1)])
def test_no_avr_is_given_tables_that_it_cannot_read(shape):
    n_units = largest_units(*shape, max_flash=parse_size("120k"), target="avr")
    n_features, n_classes, per_class = shape

    def complaint(n_units):
        sizes = Sizes.planned(n_features, n_units, n_classes, per_class)
        return avr_complaint(model_tables(sizes, is_avr=True))

    assert complaint(n_units) == ""
    assert "bytes of" in complaint(n_units + 32)


def test_an_avr_without_limits_still_has_those_of_its_tables():
    n_units = largest_units(10, 26, target="avr")

    assert n_units * 26 <= LARGEST_AVR_TABLE < (n_units + 32) * 26


def test_no_number_of_units_fits_where_scores_alone_exceed_the_ram():
    assert largest_units(10, 26, 5, max_ram=256) is None


@pytest.mark.parametrize(
    ("text", "size"),
    [("2048", 2048), ("16k", 16384), ("16 KB", 16384), ("16kB", 16384), ("1.5K", 1536), ("9b", 9)],
)
def test_sizes_are_read_as_people_write_them(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "k", "-1", "16 m", "1e3", "16 k b"])
def test_what_is_no_size_is_refused_by_a_sentence(text):
    with pytest.raises(InputError, match="a size is a number of bytes or of kilobytes"):
        parse_size(text)


def test_unknown_target_is_named():
    with pytest.raises(InputError, match="target must be one of 'cortex-m3', 'avr', 'riscv32'"):
        predict_budget(Sizes.planned(10, 64, 3), "z80")


@pytest.mark.parametrize(("excess", "complains"), [(0, False), (1, True)])
def test_an_avr_reads_all_tables_up_to_its_limit(excess, complains):
    tables = {"keys": LARGEST_AVR_TABLE, "weights": LARGEST_AVR_TABLES - LARGEST_AVR_TABLE + excess}

    assert bool(avr_complaint(tables)) == complains
