"""Budgets: predicted before building, measured in linked firmware and emulators."""

import re
from dataclasses import replace
from functools import partial
from operator import attrgetter

import numpy as np
import pytest
from export.firmware import BOARDS, cost
from export.random_models import (
    KINDS,
    VOTE,
    Settings,
    draw,
    draw_comparing,
    fitted_model,
    plan_and_samples,
)

from hyperlvq.export import make_plan, to_c
from hyperlvq.export.budget import predict_budget, terms_of
from hyperlvq.export.layout import (
    LARGEST_AVR_TABLE,
    LARGEST_AVR_TABLES,
    MOST_UNROLLED,
    TYPE_BYTES,
    ComparisonLayout,
    Layout,
    layout_of,
)

TOLERANCE = 0.10
MOST_SPARE_STACK = 80
SMALL = {"most_features": 60, "most_units": 300, "most_weights": 8000}
LARGE = {"most_features": 170, "most_units": 1500, "most_weights": 60_000}


def comparing(seed, sizes, n_units):
    """Return settings of enough units that as many are active as one expects."""
    drawn = draw_comparing(seed, **sizes)
    return replace(drawn, n_units=n_units, prototypes_per_class=min(drawn.prototypes_per_class, 3))


#: None of these models was among those that the figures were fitted to.
MODELS = {
    "cortex-m3": [
        *(draw(seed, **LARGE) for seed in range(1800, 1812)),
        *(comparing(seed, LARGE, n_units=700) for seed in range(1850, 1856)),
    ],
    "riscv32": [
        *(draw(seed, **LARGE) for seed in range(1820, 1826)),
        *(comparing(seed, LARGE, n_units=400) for seed in range(1860, 1864)),
    ],
    "avr": [
        *(draw(seed, **SMALL) for seed in range(1840, 1846)),
        *(comparing(seed, SMALL, n_units=120) for seed in range(1870, 1874)),
    ],
}
CASES = [(target, settings) for target, drawn in MODELS.items() for settings in drawn]


@pytest.mark.parametrize(("target", "settings"), CASES, ids=str)
def test_flash_instructions_and_stack_are_as_predicted(target, settings, tmp_path):
    plan, _ = plan_and_samples(settings)
    measured = cost(plan, target, tmp_path)

    budget = predict_budget(plan, target)
    assert budget.flash == pytest.approx(measured.flash, rel=TOLERANCE)
    assert budget.instructions == pytest.approx(measured.instructions, rel=TOLERANCE)
    assert measured.stack <= budget.stack <= measured.stack + MOST_SPARE_STACK


@pytest.mark.parametrize("target", BOARDS)
@pytest.mark.parametrize("kind", ["float", "int16", "int32"])
@pytest.mark.parametrize(
    ("hidden", "readout", "per_class", "planned"),
    [
        ("intrvfl", "glvq", 2, partial(Layout.planned, clip=3)),
        ("comparisons", VOTE, 1, ComparisonLayout.planned),
        ("comparisons", "centroids", 1, partial(ComparisonLayout.planned, kinds=KINDS, factor=2)),
    ],
)
def test_a_planned_model_takes_at_least_as_much_as_the_fitted_one(
    hidden, readout, per_class, planned, kind, target
):
    plan, _ = plan_and_samples(Settings(readout, kind, 8, 20, 120, 3, 4, per_class, hidden))
    budget = predict_budget(plan, target)

    expected = predict_budget(planned(20, 120, 4, per_class, input=kind), target)
    assert expected.flash >= budget.flash
    assert expected.stack >= budget.stack
    assert expected.instructions >= 0.9 * budget.instructions
    assert 0 < expected.image - expected.flash < 1024  # the least program around it


@pytest.mark.parametrize(("excess", "complains"), [(0, False), (1, True)])
def test_an_avr_reads_all_tables_up_to_its_limit(excess, complains):
    layout = Layout.planned(10, 64, 3)
    rest = LARGEST_AVR_TABLES - LARGEST_AVR_TABLE
    layout.table_bytes = {"keys": LARGEST_AVR_TABLE, "weights": rest + excess}

    assert bool(layout.avr_complaint) == complains
    assert bool(predict_budget(layout, "avr").complaint) == complains
    assert predict_budget(layout, "riscv32").complaint is None


@pytest.mark.parametrize(
    ("sizes", "options", "decision", "expected"),
    [
        # Scores have 64 bits where 32 may not hold them.
        ((10, 2730, 3), {"bits": 16}, "score_type", "int32_t"),
        ((10, 2048, 3), {"clip": 4, "bits": 16}, "score_type", "int64_t"),
        # So have products of integers by their scaling.
        ((10, 2**15 - 2, 3), {"input": "int16"}, "scaling.product_bits", 32),
        ((10, 2**15 - 1, 3), {"input": "int16"}, "scaling.product_bits", 64),
        # The largest dot product is that of a block of largest weights.
        ((5, 40, 3), {"clip": 3, "bits": 8}, "largest_dot", 32 * 3 * 255),
        ((5, 40, 3), {"clip": 3, "bits": 16}, "largest_dot", 32 * 3 * (2**15 - 1)),
        # It is added up in a type that holds it.
        ((20, 40, 3), {"clip": 8, "bits": 8}, "sum_type", "uint16_t"),
        ((20, 40, 3), {"clip": 10, "bits": 8}, "sum_type", "uint32_t"),
        ((3000, 40, 3), {"clip": 2048, "bits": 16}, "sum_type", "int32_t"),
        ((3000, 40, 3), {"clip": 2050, "bits": 16}, "sum_type", "int64_t"),
        # Packed products are added for as long as 16 bits hold them.
        *(
            ((200, 40, 3), {"clip": clip}, "words_per_carry", n_words)
            for clip, n_words in ((8, 8), (9, 2), (16, 4), (32, 2), (64, 1), (66, 0))
        ),
        # An index of features is as wide as it must be.
        ((256, 40, 3), {"input": "int16"}, "scaling.index_type", "uint8_t"),
        ((257, 40, 3), {"input": "int16"}, "scaling.index_type", "uint16_t"),
        # Counts of -3 to 3 take two planes of bits and one for the sign.
        ((6, 40, 3), {"clip": 1}, "n_planes", 3),
        # Sums that cannot exceed the clip are not clipped.
        *(((5, 40, 3), {"clip": clip}, "clips", clip < 5) for clip in (4, 5, 6)),
    ],
)
def test_decisions_change_at_their_limits(sizes, options, decision, expected):
    assert attrgetter(decision)(Layout.planned(*sizes, **options)) == expected


@pytest.mark.parametrize(("n_units", "sum_type"), [(5461, "int32_t"), (5462, "int64_t")])
def test_sums_of_the_perceptron_are_as_wide_as_they_must_be(n_units, sum_type):
    layout = replace(Layout.planned(12, n_units, 4, clip=12), rule="perceptron")

    assert layout.sum_type == sum_type


@pytest.mark.parametrize("seed", range(900, 908))
@pytest.mark.parametrize(
    ("draw_settings", "rule"),
    [(draw, None), (draw, "perceptron"), (draw, "glvq"), (draw_comparing, None)],
)
def test_tables_of_the_c_are_those_of_the_layout(draw_settings, rule, seed, tmp_path):
    settings = draw_settings(seed, **SMALL)
    if rule and settings.readout == "rls":
        settings = replace(settings, readout="centroids")
    model = fitted_model(settings)
    names = {"name": "net", "input": settings.input}
    plan = make_plan(model, bits=16 if rule else settings.bits, **names)
    to_c(model if rule else plan, tmp_path, trainable=rule or False, **names)
    layout = layout_of(plan, rule)

    found = re.findall(r"static const (\w+) net_(\w+)\[(\d+)\]", (tmp_path / "net.c").read_text())
    types = {name: kind for kind, name, _ in found}
    n_rows = {name: int(n) for _, name, n in found}
    entry_bytes = TYPE_BYTES | {"net_score": TYPE_BYTES[layout.score_type]}
    if draw_settings is draw:
        assert n_rows["scalings"] == layout.scaling.n_rows
        assert types.get("scaling_of", "") == layout.scaling.index_type
    else:
        entry_bytes["net_run"] = 2 * TYPE_BYTES[layout.count_type]
    others = types.keys() - {"scalings", "scaling_of", "classes"}
    n_bytes = {name: n_rows[name] * entry_bytes[types[name]] for name in others}
    assert n_bytes == layout.table_bytes
    assert ("classes" in types) == layout.has_class_table


def test_scalings_that_differ_in_the_sign_of_zero_are_told_apart():
    plan, _ = plan_and_samples(Settings("centroids", "float", 8, 8, 40, 3, 3, 1))
    encoder = plan.encoder
    zeros, ones = np.zeros_like(encoder.scaling.scale), np.ones_like(encoder.scaling.scale)

    for minimum, n_rows in ((zeros, 1), (np.where(np.arange(8), zeros, -0.0), 2)):
        scaling = replace(encoder.scaling, minimum=minimum.astype(np.float32), scale=ones)
        changed = replace(plan, encoder=replace(encoder, scaling=scaling))
        assert layout_of(changed).scaling.n_rows == n_rows


def test_terms_of_a_prediction_are_those_counted_by_hand():
    # 64 units are two words of 32, 6 features one four and two ones; 6 outputs have two blocks.
    layout = Layout.planned(6, 64, 3, 2, clip=3, input="int16")
    assert terms_of(layout, is_avr=False).instructions == {
        "prediction": 1,
        "level of 32 bits": 6,
        "level of 32 bits, remainder of 32 bits": 6,
        "level, index": 6,
        "count fours": 2 * 1,
        "count fours, plane": 2 * 1 * 4,
        "count fours, plane beyond 3": 2 * 1 * 1,
        "count ones": 2 * 2,
        "count ones, plane": 2 * 2 * 4,
        "word, packed": 2,
        "word, packed, kept plane": 2 * 3,
        "word, clip": 2,
        "block and output, score of 32 bits": 2 * 6,
        "product, packed": 64 // 4 * 6,
        "product, packed weights of 8 bits, full blocks": 64 // 4 * 6,
        "output": 6,
    }


@pytest.mark.parametrize(("n_units", "are_wide"), [(255, False), (256, True)])
def test_code_for_levels_of_16_bits_is_there_where_levels_need_them(n_units, are_wide):
    terms = terms_of(Layout.planned(4, n_units, 3), is_avr=False)

    assert ("levels of 16 bits" in terms.code) == are_wide
    times = terms.instructions.get("word and feature, level of 16 bits", 0)
    assert times == are_wide * 4 * n_units / 32


def test_terms_of_code_and_frames_are_those_counted_by_hand():
    terms = terms_of(Layout.planned(6, 64, 3, 2, clip=3, input="int16"), is_avr=False)

    # Sums of -6 to 6 take 4 planes of bits, activations of -3 to 3 keep 3.
    planes = {"plane": 4, "plane beyond 3": 1}
    several = {f"several {what}": 1 for what in ("features", "words", "blocks")}
    level = ("product of 32 bits", "multiplier of 4 bytes", "remainder of 32 bits", "index")
    assert terms.code == {
        "program": 1,
        "level of int16": 1,
        **{f"level, {what}": 1 for what in level},
        "dot packed": 1,
        "store packed": 1,
        "store packed, plane": 3,
        "scores of 32 bits": 1,
        **several,
        "class by shift": 1,
        "count fours": 1,
        "count ones": 1,
        **{f"count fours, {what}": times for what, times in planes.items()},
        **{f"count ones, {what}": times for what, times in planes.items()},
        "clip": 1,
    }
    places = dict.fromkeys(("int16", "several blocks", "fours"), 1) | planes
    assert terms.frame == {"frames": 1, **{f"frames, {what}": n for what, n in places.items()}}


def test_terms_of_an_avr_are_those_counted_by_hand():
    # 300 units are 38 words of 8, 40 features ten fours; 9 outputs have ten blocks.
    layout = Layout.planned(40, 300, 3, 3, clip=9, bits=16, input="int32")
    terms = terms_of(layout, is_avr=True)

    assert terms.instructions == {
        "prediction": 1,
        "level of 64 bits": 40,
        "level of 64 bits, remainder of 64 bits": 40,
        "level, index": 40,
        "level of 64 bits, multiplier of 8 bytes": 40,
        "level shift of 64 bits, byte": 40 * 4,
        "count fours": 38 * 10,
        "count fours, plane": 38 * 10 * 6,
        "count fours, plane beyond 3": 38 * 10 * 3,
        "count fours, plane beyond 5": 38 * 10,
        "word, plain": 38,
        "word, plain, kept plane": 38 * 5,
        "word, clip": 38,
        "word and feature, level of 16 bits": 38 * 40,
        "block and output, score of 32 bits": 10 * 9,
        "product, 8 x 16 bits": 300 * 9,
        "product, plain weights of 16 bits, some length": 300 * 9,
        "product, 8 x 16 bits, some length, multiplied sum": 300 * 9,
        "output": 9,
    }
    wide = {"frames, product of 64 bits": 1, "frames, remainder of 64 bits": 1}
    assert wide.items() <= terms.frame.items()
    assert terms.frame["frames, plane beyond 3"] == 3


def test_an_avr_shifts_by_bits_what_is_not_whole_bytes():
    layout = Layout.planned(40, 300, 3, input="int16")
    for shift, by_bits in ((13, 13), (16, 0)):
        scaling = replace(layout.scaling, product_bits=32, shift=shift)
        terms = terms_of(replace(layout, scaling=scaling), is_avr=True)
        assert terms.instructions.get("level shift of 32 bits, bit", 0) == 40 * by_bits


@pytest.mark.parametrize(
    ("layout", "value_bytes", "only"),
    [
        (
            ComparisonLayout.planned(300, 40, 3),
            4,
            {"compare, ordered feature": 300, "compare, features of 16 bits": 160},
        ),
        (ComparisonLayout.planned(5, 40, 30, input="int16"), 2, {}),
    ],
)
def test_terms_of_units_that_compare_are_those_counted_by_hand(layout, value_bytes, only):
    terms = terms_of(layout, is_avr=False)

    assert terms.instructions == only | {
        "compare": 1,
        "compare, run": layout.n_runs,
        "compare, unit": 40,
        f"compare, value of {value_bytes} bytes": 40 * 4,
        f"compare, threshold of {value_bytes} bytes": 40 * 4,
        "compare, active unit": layout.n_active,
        "compare, product of 8 bits in 32": layout.n_active * layout.n_outputs,
        "compare, product in a loop": layout.n_active * layout.n_outputs,
        "compare, output": layout.n_outputs,
    }
    assert terms.code == dict.fromkeys(terms.code, 1)
    common = {"compare", f"compare {layout.input}"}
    assert terms.frame == {f"compare {layout.input}": 1}
    assert terms.code.keys() == common | {
        f"compare, threshold of {value_bytes} bytes",
        "compare, product of 8 bits in 32",
        "compare, product in a loop",
    }


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((1, 32, 3, 1), set()),
        ((2, 32, 3, 2), {"several features", "class by shift"}),
        ((1, 33, 3, 3), {"several words", "several blocks", "class by division"}),
        ((1, 32, 3, 4), {"class by shift"}),
    ],
)
def test_code_has_loops_where_something_is_there_more_than_once(sizes, expected):
    terms = terms_of(Layout.planned(*sizes), is_avr=False)

    assert {name for name in terms.code if name.startswith(("several", "class by"))} == expected
    assert ("frames, several blocks" in terms.frame) == ("several blocks" in expected)


@pytest.mark.parametrize(("n_classes", "has_loop"), [(MOST_UNROLLED, 0), (MOST_UNROLLED + 1, 1)])
def test_products_of_few_outputs_need_no_loop(n_classes, has_loop):
    terms = terms_of(ComparisonLayout.planned(5, 40, n_classes), is_avr=False)

    assert terms.code.get("compare, product in a loop", 0) == has_loop
