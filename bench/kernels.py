"""The encoder against plain numpy, a GLVQ evaluation against its products, L-BFGS against scipy."""

import time
import warnings
from functools import partial
from statistics import median

import numpy as np
from measure import Table, median_seconds, peak_bytes, seconds
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from hyperlvq import GLVQClassifier, IntRVFLLayer
from hyperlvq.kernels import encoding, glvq, scores
from hyperlvq.kernels.distances import class_sums, squared_norms
from hyperlvq.kernels.lbfgs import MEMORY, minimise
from hyperlvq.kernels.scores import activation_dtype
from hyperlvq.kernels.threads import block_threads

CLIP = 3
ENCODER_SHAPES = [(5000, 20, 1000), (2000, 60, 1500)]  # samples, features, units
ENCODER_REPEATS = 15
SMALLEST_SPEEDUP = 20

N_UNITS = 1000
PROTOTYPES_PER_CLASS = 3
SLOPE = 10.0
EVALUATION_ROUNDS, EVALUATION_REPEATS = 8, 10
SPIN_SECONDS = 0.2  # idle BLAS threads keep a core busy for a while after a call
LARGEST_OVERHEAD = 1.3
FIT_ITERATIONS = 10
UNKNOWNS = (1000, 10_000, 100_000)
LBFGS_ITERATIONS, LBFGS_REPEATS = 60, 5
LARGEST_MEGABYTES = 40


def encoder_table():
    """Measure the encoder."""
    return Table(
        f"intRVFL encoder (samples x features x units), clip {CLIP}, one thread",
        ["", "ours", "plain numpy", "numpy / ours", "goal", "met"],
        [row for shape in ENCODER_SHAPES for row in encoder_rows(*shape)],
        ["Memory is beyond input and output, less what compiled code allocates: a few rows."],
    )


def encoder_rows(n_samples, n_features, n_units):
    """Measure the kernel, and `transform` as users call it, against the plain twin."""
    X = np.random.default_rng(0).uniform(size=(n_samples, n_features))
    layer = IntRVFLLayer(n_units, CLIP, random_state=0).fit(X)
    activations = np.empty((n_samples, n_units), dtype=activation_dtype(CLIP))

    problem = (X, layer.keys_, CLIP, activations)
    encode = partial(encoding.encode_rows, *problem)
    encode_plainly = partial(scores.encode_rows, *problem)
    transform, fill = partial(layer.transform, X), partial(activations.fill, CLIP)
    calls = [encode, transform, encode_plainly, fill]
    with threadpool_limits(1):
        kernel, whole, twin, writing = median_seconds(calls, ENCODER_REPEATS)
    memory, twin_memory = peak_bytes(transform) - activations.nbytes, peak_bytes(encode_plainly)
    shape = f"{n_samples} x {n_features} x {n_units}"
    return [
        speedup_row(f"encode, {shape}", kernel, twin),
        speedup_row(f"IntRVFLLayer.transform, {shape}", whole, twin),
        ["  filling an array of its output", milliseconds(writing), "", "", "", ""],
        ["  its peak memory", megabytes(memory), megabytes(twin_memory), "", "", ""],
    ]


def speedup_row(name, ours, twin):
    """Return the row of a call that should be many times as fast as its twin."""
    speedup, goal = twin / ours, f"at least {SMALLEST_SPEEDUP}"
    is_met = yes_or_no(speedup >= SMALLEST_SPEEDUP)
    return [name, milliseconds(ours), milliseconds(twin), f"{speedup:.1f}", goal, is_met]


def glvq_table(X, y):
    """Measure GLVQ on the activations of X."""
    H = IntRVFLLayer(N_UNITS, CLIP, random_state=0).fit_transform(X)
    n_prototypes = PROTOTYPES_PER_CLASS * len(np.unique(y))
    return Table(
        f"GLVQ on {H.dtype} activations ({len(H)} x {N_UNITS}), {n_prototypes} prototypes",
        ["", "ours", "two products", "ours / products", "goal", "met"],
        [evaluation_row(H, y, 1), evaluation_row(H, y, None), fit_memory_row(H, y)],
        [
            "Two products: the float32 matrix products that an evaluation by numpy would take.",
            "Needs an idle machine: where a core is busy, BLAS on all threads mostly waits.",
        ],
    )


def evaluation_row(H, y, n_threads):
    """Measure one evaluation with this many threads, or with all (None)."""
    prototypes, prototype_classes = place_prototypes(H, y)
    weights, sample_norms = np.full(len(H), 1 / len(H)), squared_norms(H)
    H32, W32 = H.astype(np.float32), prototypes.astype(np.float32)
    A32 = H32 @ W32.T
    problem = (prototypes, prototype_classes, H, y, SLOPE, weights, sample_norms)
    own_seconds, product_seconds = [], []
    with threadpool_limits(n_threads, user_api="blas"):
        for _ in range(EVALUATION_ROUNDS):
            product_seconds += repeated_seconds(lambda: (H32 @ W32.T, A32.T @ H32))
            with block_threads() as map_blocks:
                evaluate = partial(glvq.cost_and_gradient, *problem, map_blocks)
                own_seconds += repeated_seconds(evaluate)
    ours, products = median(own_seconds), median(product_seconds)
    times = milliseconds(ours), milliseconds(products), f"{ours / products:.2f}"
    is_met = yes_or_no(ours / products <= LARGEST_OVERHEAD)
    name = f"cost_and_gradient, threads: {n_threads or 'all'}"
    return [name, *times, f"at most {LARGEST_OVERHEAD}", is_met]


def repeated_seconds(call):
    """Return the seconds of repeated calls, after one that does not count."""
    time.sleep(SPIN_SECONDS)
    call()
    return [seconds(call) for _ in range(EVALUATION_REPEATS)]


def place_prototypes(H, y):
    """Return prototypes at the class means plus noise, and their classes."""
    means = class_sums(H, y, np.ones(len(H)), y.max() + 1) / np.bincount(y)[:, np.newaxis]
    prototype_classes = np.repeat(np.arange(len(means)), PROTOTYPES_PER_CLASS)
    prototypes = means[prototype_classes]
    prototypes += np.random.default_rng(0).uniform(-1, 1, size=prototypes.shape)
    return prototypes, prototype_classes


def fit_memory_row(H, y):
    """Measure the memory of a whole fit beyond its input."""
    readout = GLVQClassifier(PROTOTYPES_PER_CLASS, max_iter=FIT_ITERATIONS, random_state=0)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        peak = peak_bytes(lambda: readout.fit(H, y))
    name, goal = f"fit, {FIT_ITERATIONS} iterations, memory beyond input", LARGEST_MEGABYTES
    return [name, megabytes(peak), "", "", f"under {goal} MB", yes_or_no(peak < goal * 1e6)]


def lbfgs_table():
    """Measure L-BFGS where cost and gradient take next to nothing."""
    return Table(
        "L-BFGS on a parabola, an iteration, one thread",
        ["unknowns", "ours", "scipy's L-BFGS-B", "scipy / ours"],
        [lbfgs_row(n_unknowns) for n_unknowns in UNKNOWNS],
        [],
    )


def lbfgs_row(n_unknowns):
    """Measure both on as many unknowns; their steps are the same."""
    stiffness = np.linspace(1, 1e4, n_unknowns)
    start = np.random.default_rng(0).normal(size=n_unknowns)

    def parabola(x):
        gradient = stiffness * x
        return 0.5 * (gradient @ x), gradient

    def ours():
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            minimise(parabola, start, LBFGS_ITERATIONS, 0.0)

    def scipys():
        options = {"maxcor": MEMORY, "maxiter": LBFGS_ITERATIONS, "gtol": 0.0}
        minimize(parabola, start, jac=True, method="L-BFGS-B", options=options)

    with threadpool_limits(1):
        own, other = median_seconds([ours, scipys], LBFGS_REPEATS)
    times = [milliseconds(part / LBFGS_ITERATIONS) for part in (own, other)]
    return [f"{n_unknowns:,}", *times, f"{other / own:.1f}"]


def milliseconds(seconds):
    """Write seconds as milliseconds."""
    return f"{1e3 * seconds:.2f} ms"


def megabytes(n_bytes):
    """Write bytes as megabytes."""
    return f"{n_bytes / 1e6:.2f} MB"


def yes_or_no(answer):
    """Write an answer as a word; a goal that was missed should stand out."""
    return "yes" if answer else "NO"
