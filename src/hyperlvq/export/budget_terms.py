"""What code and instructions of a prediction are made of: the budget is a sum of these terms.

Each term is how often something occurs, which the sizes say; what one occurrence takes on a
target is a figure that bench/calibrate_budget.py measures.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import cast

from hyperlvq.export.budget_sizes import Sizes
from hyperlvq.export.layout import BLOCK_UNITS, MOST_WORDS, PACKED_UNITS, Layout
from hyperlvq.export.plan import Plan

FOUR = 4
#: Beyond these numbers of bit planes registers run short, and each further plane takes more.
CROWDED = (3, 5, 7)


@dataclass(frozen=True)
class Shape:
    """The numbers that the code of a model is written with on a target."""

    sizes: Sizes
    is_avr: bool

    @cached_property
    def layout(self) -> Layout:
        """The layout, of which only properties that sizes determine are read."""
        return Layout(cast(Plan, self.sizes))

    @property
    def is_packed(self) -> bool:
        """Whether four weights are multiplied as a word."""
        return self.layout.is_packed and not self.is_avr

    @property
    def n_words(self) -> int:
        """Words of units that are encoded: of 8 on AVR, of 32 elsewhere."""
        return -(-self.layout.padded_units // (8 if self.is_avr else BLOCK_UNITS))

    @property
    def n_products(self) -> int:
        """Steps of the dot products of all outputs."""
        steps = self.layout.padded_units // (PACKED_UNITS if self.is_packed else 1)
        return steps * self.sizes.n_outputs

    @property
    def n_kept(self) -> int:
        """Planes of an activation."""
        return self.layout.n_kept_planes + self.layout.is_odd

    @property
    def store(self) -> str:
        """How activations are stored."""
        return "packed" if self.is_packed else "plain"

    @property
    def dot(self) -> str:
        """The kind of dot product."""
        if self.is_packed:
            carries = self.layout.words_per_carry < MOST_WORDS
            return "packed with carries" if carries else "packed"
        wide = {8: 2**16, 16: 2**31}[self.sizes.bits] <= self.layout.largest_dot
        activation = 16 if self.layout.highest_activation >= 2**8 else 8
        return f"{activation} x {self.sizes.bits} bits{', wide' if wide else ''}"

    @property
    def blocks(self) -> str:
        """What the compiler knows of the blocks: one only, all of one length, or neither."""
        if self.layout.n_blocks == 1:
            return "one block"
        return "some length" if self.layout.padded_units % BLOCK_UNITS else "full blocks"

    @property
    def products(self) -> dict[str, int]:
        """Steps of dot products, by what is multiplied and by what is known of their number."""
        weights = f"{self.store} weights of {self.sizes.bits} bits"
        kinds = [f"product, {self.dot}", f"product, {weights}, {self.blocks}"]
        if self.is_avr and self.layout.step > 1:  # which takes registers from the loop
            kinds.append(f"product, {self.dot}, {self.blocks}, multiplied sum")
        return dict.fromkeys(kinds, self.n_products)

    @property
    def n_carries(self) -> int:
        """How often packed products of all outputs are carried."""
        words = self.layout.padded_units // PACKED_UNITS
        return -(-words // self.layout.words_per_carry) * self.sizes.n_outputs


def code_terms(sizes: Sizes, is_avr: bool) -> dict[str, float]:
    """Return what the code of a model consists of, by name."""
    shape = Shape(sizes, is_avr)
    planes = shape.layout.n_planes
    per_class = sizes.n_outputs // sizes.n_classes
    terms: dict[str, float] = {
        "program": 1,
        **_level_code(sizes),
        f"dot {shape.dot}": 1,
        f"store {shape.store}": 1,
        f"store {shape.store}, plane": shape.n_kept,
        f"scores of {sizes.score_bits} bits": 1,
        "levels of 16 bits": sizes.n_units >= 2**8,
        "several features": sizes.n_features > 1,
        "several words": shape.n_words > 1,
        "several blocks": sizes.n_units > BLOCK_UNITS,
        "table of classes": sizes.class_bytes > 0,
        "class by division": sizes.class_bytes == 0 and per_class not in (1, 2, 4),
        "class by shift": sizes.class_bytes == 0 and per_class in (2, 4),
    }
    if sizes.n_features >= FOUR:
        terms |= _crowding("count fours", planes, 1)
    if sizes.n_features % FOUR:
        terms |= _crowding("count ones", planes, 1)
    if shape.layout.clips:
        terms |= {"clip": 1, "clip, plane": planes, "clip, kept plane": shape.n_kept}
    return _present(terms)


def _level_code(sizes):
    scaling = sizes.scaling
    return {
        f"level of {sizes.input}": 1,
        f"level, product of {scaling.product_bits} bits": scaling.product_bits > 0,
        f"level, multiplier of {scaling.fields[0]} bytes": sizes.input != "float",
        f"level, remainder of {scaling.remainder_bits} bits": scaling.remainder_bits > 0,
        "level, some settled": scaling.is_mixed,
        "level, offset": sizes.input != "float" and len(scaling.fields) - scaling.is_mixed > 3,
        "level, shared scaling": scaling.n_rows == 1,
        "level of float, subtraction": sizes.input == "float" and scaling.subtracts,
        "level, index": scaling.index_bytes > 0,
    }


def instruction_terms(sizes: Sizes, is_avr: bool) -> dict[str, float]:
    """Return how often the parts of a prediction run, by name."""
    shape = Shape(sizes, is_avr)
    words, planes = shape.n_words, shape.layout.n_planes
    fours, ones = divmod(sizes.n_features, FOUR)
    block_outputs = shape.layout.n_blocks * sizes.n_outputs
    level_steps = _level_shift(sizes, is_avr) | _level_steps(sizes)
    terms: dict[str, float] = {
        "prediction": 1,
        **{name: times * sizes.n_features for name, times in level_steps.items()},
        **_crowding("count fours", planes, words * fours),
        "count ones": words * ones,
        "count ones, plane": words * ones * planes,
        f"word, {shape.store}": words,
        f"word, {shape.store}, kept plane": words * shape.n_kept,
        "word, clip": words * shape.layout.clips,
        "one word, feature": sizes.n_features * (words == 1),
        "one word, four features and a plane": fours * planes * (words == 1),
        "word and feature, level of 16 bits": words * sizes.n_features * (sizes.n_units >= 2**8),
        f"block and output, score of {sizes.score_bits} bits": block_outputs,
        **shape.products,
        "carry": shape.n_carries if shape.dot == "packed with carries" else 0,
        "output": sizes.n_outputs,
    }
    return _present(terms)


def _level_steps(sizes):
    scaling = sizes.scaling
    kind = f"of {scaling.product_bits} bits" if scaling.product_bits else "of float"
    return {
        f"level {kind}": 1,
        f"level {kind}, remainder of {scaling.remainder_bits} bits": scaling.remainder_bits > 0,
        "level, index": scaling.index_bytes > 0,
    }


def _level_shift(sizes, is_avr):
    """Return by how much a product is shifted where that takes a loop."""
    scaling = sizes.scaling
    if not is_avr or not scaling.product_bits:
        return {}
    n_bytes, n_bits = divmod(scaling.shift, 8)
    if scaling.product_bits == 32:
        return {"level shift of 32 bits, bit": scaling.shift if n_bits else 0}
    return {
        "level shift of 64 bits, byte": n_bytes,
        "level shift of 64 bits, bit": n_bits,
        f"level of 64 bits, multiplier of {scaling.fields[0]} bytes": 1,
    }


def _crowding(name, planes, times):
    """Return terms of something done to every plane, which takes more where planes crowd."""
    beyond = {f"{name}, plane beyond {limit}": times * max(planes - limit, 0) for limit in CROWDED}
    return {name: times, f"{name}, plane": times * planes, **beyond}


def _present(terms):
    return {name: float(times) for name, times in terms.items() if times}


def frame_terms(sizes: Sizes, is_avr: bool) -> dict[str, float]:
    """Return what the frames of functions hold beside arrays, by name.

    Terms are few, so that a bound of all measured models is one of others too.
    """
    planes = Shape(sizes, is_avr).layout.n_planes
    terms: dict[str, float] = {
        "frames": 1,
        f"frames, {sizes.input}": 1,
        "frames, product of 64 bits": sizes.scaling.product_bits == 64,
        "frames, remainder of 64 bits": sizes.scaling.remainder_bits == 64,
        "frames, scores of 64 bits": sizes.score_bits == 64,
        "frames, several blocks": sizes.n_units > BLOCK_UNITS,
        "frames, fours": sizes.n_features >= FOUR,
        "frames, plane": planes,
        f"frames, plane beyond {CROWDED[0]}": max(planes - CROWDED[0], 0),
    }
    return _present(terms)
