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
    SMALL,
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
LARGE = {"most_features": 170, "most_units": 1500, "most_weights": 60_000}
#: Seeds, none of which is of a model that the figures were fitted to; and enough units that as many
#: are active as one expects.
MODELS = {
    "cortex-m3": (LARGE, range(1800, 1812), range(1850, 1856), 700),
    "riscv32": (LARGE, range(1820, 1826), range(1860, 1864), 400),
    "avr": (SMALL, range(1840, 1846), range(1870, 1874), 120),
}


def cases():
    for target, (sizes, seeds, comparing, n_units) in MODELS.items():
        yield from ((target, draw(seed, **sizes)) for seed in seeds)
        for drawn in (draw_comparing(seed, **sizes) for seed in comparing):
            n_each = min(drawn.prototypes_per_class, 3)
            yield target, replace(drawn, n_units=n_units, prototypes_per_class=n_each)


@pytest.mark.parametrize(("target", "settings"), list(cases()), ids=str)
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
        # Those of the perceptron are as wide as they must be.
        ((12, 5461, 4), {"clip": 12, "rule": "perceptron"}, "sum_type", "int32_t"),
        ((12, 5462, 4), {"clip": 12, "rule": "perceptron"}, "sum_type", "int64_t"),
        # Sums that cannot exceed the clip are not clipped.
        *(((5, 40, 3), {"clip": clip}, "clips", clip < 5) for clip in (4, 5, 6)),
    ],
)
def test_decisions_change_at_their_limits(sizes, options, decision, expected):
    rule = options.get("rule")
    planned = {name: value for name, value in options.items() if name != "rule"}
    layout = replace(Layout.planned(*sizes, **planned), rule=rule)

    assert attrgetter(decision)(layout) == expected


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
    largest = plan.encoder.limit * np.abs(plan.weights).sum(axis=1) + np.abs(plan.biases)
    assert layout.largest_score >= largest.max()

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


#: Three models, and their terms counted by hand. 64 units are two words of 32, 6 features one four
#: and two ones; 6 outputs have two blocks. Sums of -6 to 6 take 4 planes of bits, activations of -3
#: to 3 keep 3. On an AVR 300 units are 38 words of 8, 40 features ten fours; 9 outputs have ten
#: blocks. Of 40 units with 4 comparisons each, a quarter are active.
PACKED = Layout.planned(6, 64, 3, 2, clip=3, input="int16")
PACKED_TERMS = """
code: program 1, level of int16 1, level; product of 32 bits 1, level; multiplier of 4 bytes 1,
 level; remainder of 32 bits 1, level; index 1, dot packed 1, store packed 1, store packed; plane 3,
 scores of 32 bits 1, several features 1, several words 1, several blocks 1, class by shift 1,
 count fours 1, count fours; plane 4, count fours; plane beyond 3 1, count ones 1,
 count ones; plane 4, count ones; plane beyond 3 1, clip 1
instructions: prediction 1, level of 32 bits 6, level of 32 bits; remainder of 32 bits 6,
 level; index 6, count fours 2, count fours; plane 8, count fours; plane beyond 3 2, count ones 4,
 count ones; plane 16, word; packed 2, word; packed; kept plane 6, word; clip 2,
 block and output; score of 32 bits 12, product; packed 96,
 product; packed weights of 8 bits; full blocks 96, output 6
frame: frames 1, frames; int16 1, frames; several blocks 1, frames; fours 1, frames; plane 4,
 frames; plane beyond 3 1
"""
ON_AVR = Layout.planned(40, 300, 3, 3, clip=9, bits=16, input="int32")
ON_AVR_TERMS = """
instructions: prediction 1, level of 64 bits 40, level of 64 bits; remainder of 64 bits 40,
 level; index 40, level of 64 bits; multiplier of 8 bytes 40, level shift of 64 bits; byte 160,
 count fours 380, count fours; plane 2280, count fours; plane beyond 3 1140,
 count fours; plane beyond 5 380, word; plain 38, word; plain; kept plane 190, word; clip 38,
 word and feature; level of 16 bits 1520, block and output; score of 32 bits 90,
 product; 8 x 16 bits 2700, product; plain weights of 16 bits; some length 2700,
 product; 8 x 16 bits; some length; multiplied sum 2700, output 9
frame: frames 1, frames; int32 1, frames; product of 64 bits 1, frames; remainder of 64 bits 1,
 frames; several blocks 1, frames; fours 1, frames; plane 6, frames; plane beyond 3 3
"""
COMPARING = ComparisonLayout.planned(300, 40, 3)
COMPARING_TERMS = """
code: compare 1, compare float 1, compare; threshold of 4 bytes 1,
 compare; product of 8 bits in 32 1, compare; product in a loop 1,
 compare; medians 1, compare; class of no values 1
instructions: compare 1, compare; ordered feature 300,
 compare; feature with a median 300, compare; run 5, compare; unit 40,
 compare; value of 4 bytes 160, compare; threshold of 4 bytes 160,
 compare; features of 16 bits 160, compare; active unit 12.5,
 compare; product of 8 bits in 32 37.5, compare; product in a loop 37.5, compare; output 3
frame: compare float 1
"""


@pytest.mark.parametrize(
    ("layout", "is_avr", "text"),
    [
        (PACKED, False, PACKED_TERMS),
        (ON_AVR, True, ON_AVR_TERMS),
        (COMPARING, False, COMPARING_TERMS),
    ],
)
def test_terms_are_those_counted_by_hand(layout, is_avr, text):
    terms = terms_of(layout, is_avr)._asdict()

    for line in text.replace("\n ", " ").strip().splitlines():
        part, expected = line.split(": ")
        counted = (term.rsplit(" ", 1) for term in expected.split(", "))
        assert terms[part] == {name.replace(";", ","): float(times) for name, times in counted}


def with_shift(shift):
    layout = Layout.planned(40, 300, 3, input="int16")
    return replace(layout, scaling=replace(layout.scaling, product_bits=32, shift=shift))


@pytest.mark.parametrize(
    ("layout", "is_avr", "part", "term", "times"),
    [
        # Levels take 16 bits from 256 units on.
        *(
            (Layout.planned(4, n, 3), False, "code", "levels of 16 bits", n > 255)
            for n in (255, 256)
        ),
        (
            Layout.planned(4, 256, 3),
            False,
            "instructions",
            "word and feature, level of 16 bits",
            4 * 8,
        ),
        # An AVR shifts by bits what is not whole bytes.
        *(
            (with_shift(shift), True, "instructions", "level shift of 32 bits, bit", 40 * bits)
            for shift, bits in ((13, 13), (16, 0))
        ),
        # Integers need no order of their own.
        *(
            (ComparisonLayout.planned(5, 40, 30, input="int16"), False, "instructions", *term)
            for term in (
                ("compare, ordered feature", 0),
                ("compare, features of 16 bits", 0),
                ("compare, value of 2 bytes", 160),
                ("compare, threshold of 2 bytes", 160),
            )
        ),
        # Products of few outputs need no loop.
        *(
            (ComparisonLayout.planned(5, 40, n), False, "code", "compare, product in a loop", loops)
            for n, loops in ((MOST_UNROLLED, 0), (MOST_UNROLLED + 1, 1))
        ),
    ],
)
def test_terms_occur_where_their_code_does(layout, is_avr, part, term, times):
    assert getattr(terms_of(layout, is_avr), part).get(term, 0) == times


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
