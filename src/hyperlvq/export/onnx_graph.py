"""A plan as an ONNX graph of plain operators, with integers after levels and comparisons.

Comparisons are gathered, made and counted run by run, in about 10 bytes each per sample.

A thermometer's graph counts as the C does: a sample's K features become K rows of N bits, one per
unit, that are 1 where the sign is +1 after negation, and adders of bitwise operators count the ones
of each unit, 64 units at once. That takes about N·max(K/2, 35) bytes of memory per sample.
"""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from hyperlvq.export.encoders import ComparingUnits
from hyperlvq.export.plan import Plan, make_plan
from hyperlvq.export.scaling import INPUT_DTYPES, IntegerScaling
from hyperlvq.writing import write_bytes

OPSET = 18  # the first with bitwise operators; tested from onnxruntime 1.19 on
IR_VERSION = 8  # the one of opset 18; helper would take the newest, which older runtimes refuse
WORD_BITS = 64
#: Counts are unpacked by way of words of four, which holds the largest number of features.
COUNT_BITS = 16
COUNTS_PER_WORD = WORD_BITS // COUNT_BITS
WEIGHT_ZERO = 128


def to_onnx(
    model: Any,
    path: str | Path | None = None,
    *,
    name: str = "model",
    input: str = "float",  # noqa: A002
    bits: int = 8,
) -> Any:
    """Convert a fitted model to ONNX.

    The ONNX model has one input, "features" (samples × features, of the type `input`). Its outputs
    "label" (int64 for integer classes, else strings) and "scores" (int64, one per prototype or
    class) equal those of the plan from `make_plan`. Feature and class names are stored in the
    metadata as JSON. Comparison units treat NaN as in Python. For intRVFL, NaN acts as the smallest
    value.

    Parameters
    ----------
    model : HyperLVQClassifier, Pipeline or Plan
        A fitted model as for `make_plan`, or a plan. For a plan, `name`, `input` and `bits` are
        ignored.
    path : path, optional
        File to write. An existing file is replaced only when the new one is complete.
    name, input, bits : str, str, int
        As for `make_plan`. `name` becomes the name of the graph.

    Returns
    -------
    onnx_model : onnx.ModelProto
        The ONNX model.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hyperlvq import make_classifier
    >>> from hyperlvq.export import to_onnx
    >>> X, y = load_digits(return_X_y=True)
    >>> model = make_classifier("intrvfl", "centroids", n_units=64, random_state=0).fit(X, y)
    >>> onnx_model = to_onnx(model, name="digits", input="int16")
    >>> [output.name for output in onnx_model.graph.output]
    ['label', 'scores']
    """
    plan = model if isinstance(model, Plan) else make_plan(model, name=name, input=input, bits=bits)
    graph, labels = _Graph(), _labels(plan)
    add_activations = _compare if isinstance(plan.encoder, ComparingUnits) else _encode
    shifted, weights = add_activations(graph, plan)
    products = graph.cast(_products(graph, shifted, weights, plan), np.int64)
    multiplied = graph.add("Mul", products, np.int64(plan.factor))
    scores = graph.add("Sub", multiplied, plan.biases)
    if plan.empty_scores is not None:
        is_missing = graph.cast(graph.add("IsNaN", "features"), np.int32)
        is_empty = graph.cast(graph.add("ReduceMin", is_missing, np.array([1])), np.bool_)
        scores = graph.add("Where", is_empty, plan.empty_scores, scores)
    scores = graph.add("Identity", scores, output="scores")
    # Scores are far below 2⁵³, and onnxruntime before 1.20 has no ArgMax of int64.
    winners = graph.add("ArgMax", graph.cast(scores, np.float64), axis=1, keepdims=0)
    graph.add("Gather", labels[plan.output_classes], winners, output="label")
    tensors = (
        ("features", INPUT_DTYPES[plan.input], plan.n_features),
        ("label", labels.dtype),
        ("scores", np.int64, plan.n_outputs),
    )
    metadata = {
        "hyperlvq_version": version("hyperlvq"),
        "name": plan.name,
        "readout": plan.readout,
        "bits": json.dumps(plan.bits),
        "feature_names": json.dumps(plan.feature_names),
        "classes": json.dumps(plan.class_names),
        "output_classes": json.dumps(plan.output_classes.tolist()),
    }
    onnx_model = graph.model(plan.name, tensors, metadata)
    if path is not None:
        write_bytes(onnx_model.SerializeToString(), path)
    return onnx_model


class _Graph:
    """Nodes in the order in which they run; arrays among their inputs become constants."""

    def __init__(self):
        try:
            import onnx
        except ModuleNotFoundError as error:
            sentence = "ONNX export needs: pip install 'hyperlvq[onnx]'"
            raise ModuleNotFoundError(sentence, name=error.name) from None
        self.helper, self.from_array = onnx.helper, onnx.numpy_helper.from_array
        self.nodes, self.constants = [], []

    def add(self, operator, *inputs, output=None, **attributes):
        """Add a node and return the name of its output, or the names of several."""
        output = output or f"{operator.lower()}_{len(self.nodes)}"
        outputs = [output] if isinstance(output, str) else output
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        self.nodes.append(self.helper.make_node(operator, names, outputs, outputs[0], **attributes))
        return output

    def halves(self, value):
        """Return the two halves of a value along its second axis."""
        outputs = [f"{side}_{len(self.nodes)}" for side in ("first", "second")]
        return self.add("Split", value, output=outputs, axis=1, num_outputs=2)

    def cast(self, value, dtype):
        return self.add("Cast", value, to=self._type(dtype))

    def shift(self, value, n_bits):
        """Return a value without its lowest bits."""
        return self.add("BitShift", value, np.uint64(n_bits), direction="RIGHT")

    def model(self, name, tensors, metadata):
        """Return the model, given type and shape of its input and of its outputs."""
        first, *others = (
            self.helper.make_tensor_value_info(each, self._type(dtype), ["samples", *n])
            for each, dtype, *n in tensors
        )
        model = self.helper.make_model(
            self.helper.make_graph(self.nodes, name, [first], others, self.constants),
            opset_imports=[self.helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="hyperlvq",
            producer_version=version("hyperlvq"),
        )
        self.helper.set_model_props(model, metadata)
        return model

    def _type(self, dtype):
        return self.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    def _constant(self, array):
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.from_array(np.asarray(array), name))
        return name


def _labels(plan):
    """Return the classes in a type that ONNX has: int64, float64, bool or strings."""
    dtypes = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}
    dtype = dtypes.get(plan.classes.dtype.kind)
    return plan.classes.astype(dtype) if dtype else np.array(plan.class_names, dtype=object)


def _compare(graph, plan):
    """Return activations of units that compare, plus the limit, and the weights of the units."""
    encoder, limit = plan.encoder, plan.encoder.limit
    thresholds = encoder.thresholds
    if plan.input != "float":  # runtimes compare no integers of 16 bits
        thresholds = thresholds.astype(np.int32)
    values = graph.cast("features", thresholds.dtype)
    if plan.medians is not None:
        values = graph.add("Where", graph.add("IsNaN", values), plan.medians, values)
    activations, first = [], 0
    for run in encoder.runs:
        shape = run.n_units, run.n_comparisons
        these = slice(first, first + shape[0] * shape[1])
        first = these.stop
        columns = graph.add("Gather", values, encoder.features[these].reshape(shape), axis=1)
        reached = graph.add("GreaterOrEqual", columns, thresholds[these].reshape(shape))
        is_below = np.arange(shape[1]) >= run.n_above
        holds = graph.cast(graph.add("Xor", reached, is_below), np.int32)
        count = graph.add("ReduceSum", holds, np.array([2]), keepdims=0)
        by_count = np.array(run.activations, dtype=np.int32) + np.int32(limit)
        activations.append(graph.add("Gather", by_count, count))
    return graph.add("Concat", *activations, axis=1), plan.weights.T


def _encode(graph, plan):
    """Return activations of a thermometer, plus the limit, and the weights in their order."""
    limit = plan.encoder.limit
    counts = _counts(graph, _bits(graph, _levels(graph, plan.encoder.scaling), plan), plan)
    padded = np.zeros((_n_padded(plan), plan.n_outputs), dtype=plan.weights.dtype)
    padded[: plan.n_units] = plan.weights.T
    # In the order of counts: a word's bits 0, 16, 32 and 48 are unpacked together.
    by_bit = padded.reshape(-1, COUNTS_PER_WORD, COUNT_BITS, plan.n_outputs)
    # Of c positive features among K come activations clip(2c - K).
    doubled = graph.add("Mul", counts, np.int32(2))
    sums = graph.add("Sub", doubled, np.int32(plan.n_features - limit))
    shifted = graph.add("Clip", sums, np.int32(0), np.int32(2 * limit))
    return shifted, by_bit.swapaxes(1, 2).reshape(padded.shape)


def _levels(graph, scaling):
    """Return the levels (samples × features, int64)."""
    if isinstance(scaling, IntegerScaling):
        return _levels_of_integers(graph, scaling)
    # What is not above the minimum becomes it, and so does NaN, which no comparison holds for.
    is_above = graph.add("Greater", "features", scaling.minimum)
    values = graph.add("Where", is_above, "features", scaling.minimum)
    distances = graph.add("Sub", values, scaling.minimum)
    positions = graph.add("Mul", distances, scaling.scale)
    within = graph.add("Min", positions, np.float32(scaling.n_levels))
    return graph.cast(graph.add("Round", within), np.int64)


def _levels_of_integers(graph, scaling):
    """Return the levels as `IntegerScaling.levels` computes them."""
    distance = graph.add("Sub", graph.cast("features", np.int64), scaling.minimum)
    last = np.maximum(scaling.span - 1, 0)
    within = graph.add("Min", graph.add("Max", distance, np.int64(0)), last)
    line = graph.add("Add", graph.add("Mul", within, scaling.multiplier), scaling.offset)
    shifted = graph.shift(graph.cast(line, np.uint64), scaling.shift)
    levels = graph.cast(shifted, np.int64)
    if scaling.settles.any():
        levels = graph.add("Add", levels, _correction(graph, within, levels, scaling))
    is_below = graph.add("Less", distance, scaling.span)
    levels = graph.add("Where", is_below, levels, np.int64(scaling.n_levels))
    return graph.add("Where", graph.add("Less", distance, np.int64(0)), np.int64(0), levels)


def _correction(graph, distance, levels, scaling):
    """Return -1, 0 or 1, and 0 for features that do not settle."""
    reached = graph.add("Mul", levels, scaling.span)
    wanted = graph.add("Mul", distance, np.int64(scaling.n_levels))
    remainder = graph.add("Mul", graph.add("Sub", wanted, reached), np.int64(2))
    is_odd = graph.add("Mod", levels, np.int64(2))
    # One more than the remainder of an odd level exceeds the span where they are equal, too.
    bound = np.where(scaling.settles, scaling.span, np.iinfo(np.int64).max)
    is_low = graph.add("Greater", graph.add("Add", is_odd, remainder), bound)
    is_high = graph.add("Greater", graph.add("Sub", is_odd, remainder), bound)
    return graph.add("Sub", graph.cast(is_low, np.int64), graph.cast(is_high, np.int64))


def _bits(graph, levels, plan):
    """Return signs, negated below the levels, as bits (samples × features × words of uint64)."""
    keys = plan.encoder.key_words(WORD_BITS).astype(np.uint64)
    first_units = WORD_BITS * np.arange(keys.shape[1])
    columns = graph.add("Unsqueeze", levels, np.array([2]))
    n_negated = graph.add("Sub", columns, first_units)
    n_negated = graph.add("Clip", n_negated, np.int64(0), np.int64(WORD_BITS))
    low_bits = np.array([2**n - 1 for n in range(WORD_BITS + 1)], dtype=np.uint64)
    return graph.add("BitwiseXor", graph.add("Gather", low_bits, n_negated), keys)


def _counts(graph, words, plan):
    """Return how many features are positive in each unit (samples × padded units, int32)."""
    digits = _digits_of_counts(graph, words, plan.n_features)
    # Not by ReduceSum, for which onnxruntime rounds int64 to float64.
    packed = _every_sixteenth(graph, digits[-1])
    for digit in reversed(digits[:-1]):
        doubled = graph.add("BitShift", packed, np.uint64(1), direction="LEFT")
        packed = graph.add("BitwiseOr", doubled, _every_sixteenth(graph, digit))
    columns = graph.add("Unsqueeze", packed, np.array([4]))
    lanes = graph.shift(columns, np.arange(0, WORD_BITS, COUNT_BITS, dtype=np.uint64))
    counts = graph.add("BitwiseAnd", lanes, np.uint64(2**COUNT_BITS - 1))
    return graph.cast(graph.add("Reshape", counts, np.array([0, _n_padded(plan)])), np.int32)


def _every_sixteenth(graph, digit):
    """Return 16 words for each, with bits i, 16 + i, 32 + i and 48 + i at 0, 16, 32 and 48."""
    columns = graph.add("Unsqueeze", digit, np.array([3]))
    low_bits = np.uint64(sum(2**bit for bit in range(0, WORD_BITS, COUNT_BITS)))
    shifted = graph.shift(columns, np.arange(COUNT_BITS, dtype=np.uint64))
    return graph.add("BitwiseAnd", shifted, low_bits)


def _digits_of_counts(graph, words, n_rows):
    """Return the binary digits of the number of ones in each column, lowest first."""
    digits = [words]
    while n_rows > 1:
        if n_rows % 2:
            row_of_zeros = np.array([0, 0, 0, 0, 1, 0])
            digits = [graph.add("Pad", digit, row_of_zeros) for digit in digits]
        digits = _added(graph, [graph.halves(digit) for digit in digits])
        n_rows = (n_rows + 1) // 2
    return digits


def _added(graph, pairs):
    """Return the digits of the sum of two numbers, given the pairs of theirs, lowest first."""
    first, carry = (graph.add(operator, *pairs[0]) for operator in ("BitwiseXor", "BitwiseAnd"))
    digits = [first]
    for pair in pairs[1:]:
        differs, both = (graph.add(operator, *pair) for operator in ("BitwiseXor", "BitwiseAnd"))
        digits.append(graph.add("BitwiseXor", differs, carry))
        carry = graph.add("BitwiseOr", both, graph.add("BitwiseAnd", differs, carry))
    return [*digits, carry]


def _products(graph, shifted, weights, plan):
    """Return the products of activations and weights, in 8 bits where both have no more.

    `shifted` are the activations plus the limit.
    """
    limit = plan.encoder.limit
    if plan.bits == 8 and limit <= np.iinfo(np.int8).max:
        # Unsigned on both sides: with signed weights, processors without VNNI may saturate.
        factors = (weights + np.int16(WEIGHT_ZERO)).astype(np.uint8)
        zeros = np.uint8(limit), np.uint8(WEIGHT_ZERO)
        return graph.add("MatMulInteger", graph.cast(shifted, np.uint8), factors, *zeros)
    largest = limit * np.abs(weights.astype(np.int64)).sum(axis=0).max()
    dtype = np.int32 if largest < 2**31 else np.int64
    activations = graph.cast(graph.add("Sub", shifted, np.int32(limit)), dtype)
    return graph.add("MatMul", activations, graph.cast(weights, dtype))


def _n_padded(plan):
    return -(-plan.n_units // WORD_BITS) * WORD_BITS
