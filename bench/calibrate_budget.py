"""Measure random models on every target and fit the figures of the budget to them.

    python bench/calibrate_budget.py [--models N] [--measured FILE]

Needs what tools/install-firmware-tools installs. Writes src/hyperlvq/export/budget_figures.json
and prints how far predictions lie from what was measured. FILE keeps what was measured (one line
of JSON a model and target); what is in it already is not measured again.
"""

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.optimize import linprog, nnls

from hyperlvq.export.budget import predict_budget, terms_of
from hyperlvq.export.encoders import Thermometer
from hyperlvq.export.layout import BLOCK_UNITS, ComparisonLayout, layout_of
from hyperlvq.export.plan import Plan
from hyperlvq.export.scaling import make_scaling

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from export.firmware import BOARDS, bare_image, cost, execute, samples_within
from export.random_models import draw_comparing, draw_size, plan_and_samples

ROOT = Path(__file__).parents[1]
#: What an ATmega328P has beside code.
MOST_AVR_TABLES = 28_000
#: The samples of more do not fit the RAM where instructions are counted.
MOST_AVR_FEATURES = 200
FIGURES = ROOT / "src" / "hyperlvq" / "export" / "budget_figures.json"
RIDGE = 1e-3
#: Bytes of stack beyond the deepest measured, for models that were not measured.
SPARE_STACK = 16
SPANS = (1, 10, 16, 255, 1023, 4095, 10_000)
#: From this seed on units compare; there are half as many such models.
FIRST_COMPARING = 5000


def draw_plan(seed):
    """Return a plan of random sizes and numbers, which need not have been learnt to be run."""
    if FIRST_COMPARING <= seed < 2 * FIRST_COMPARING:
        return draw_comparing_plan(seed)
    rng = np.random.default_rng(seed)
    n_features, n_units = draw_size(rng, 1, 200), draw_size(rng, 8, 1600)
    if seed // 6 % 2:
        n_units = -(-n_units // BLOCK_UNITS) * BLOCK_UNITS  # as most people choose them
    n_classes = draw_size(rng, 2, 26)
    n_outputs = n_classes * int(rng.integers(1, 6))
    if n_outputs * n_units > 60_000:
        return draw_plan(seed + 100_000)
    input_type = ("float", "int16", "int32")[seed % 3]
    bits = (8, 16)[seed // 3 % 2]
    clip = draw_size(rng, 1, 127)
    low, spans = draw_ranges(rng, n_features, input_type)
    names = tuple(f"feature {i}" for i in range(n_features))
    scaling, notes = make_scaling(low, low + spans, n_units, names, input_type)
    weights, scale = draw_weights(rng, n_outputs, n_units, bits, clip)
    keys = rng.integers(256, size=(n_features, -(-n_units // 8)), dtype=np.uint8)
    return Plan(
        name="net",
        readout="glvq",
        input=input_type,
        bits=bits,
        feature_names=names,
        feature_ranges=np.column_stack([low, low + spans]),
        class_names=tuple(map(str, range(n_classes))),
        classes=np.arange(n_classes),
        encoder=Thermometer(n_units, clip, keys, scaling),
        weights=weights,
        weight_scale=scale,
        biases=np.rint(scale * np.square(weights.astype(np.int64)).sum(axis=1)).astype(np.int64),
        factor=int(rng.choice([1, 2, 2])),
        output_classes=draw_classes(rng, n_outputs, n_classes),
        notes=tuple(notes),
    )


def draw_comparing_plan(seed):
    """Return a plan of units that compare, of which some have scores of 64 bits."""
    plan, _ = plan_and_samples(draw_comparing(seed, 400, 1600, 60_000), seed)
    return plan if seed % 5 else replace(plan, biases=plan.biases + 2**32)


def draw_ranges(rng, n_features, input_type):
    """Return minimum and span of every feature: all alike, of few kinds, or each its own."""
    n_kinds = int(rng.choice([1, 4, n_features]))
    low = rng.integers(-2000, 2000, size=n_kinds).astype(float)
    spans = rng.choice(SPANS, size=n_kinds) * rng.choice([1, 1, 3])
    if input_type == "int32" and rng.uniform() < 0.5:
        spans = rng.integers(1, 2**30, size=n_kinds)
    if input_type == "float" or rng.uniform() < 0.2:
        low, spans = low + rng.uniform(size=n_kinds), spans * rng.uniform(0.5, 1, size=n_kinds)
    kinds = rng.integers(n_kinds, size=n_features)
    if n_kinds == n_features:
        kinds = np.arange(n_features)
    return low[kinds], spans[kinds].astype(float)


def draw_weights(rng, n_outputs, n_units, bits, clip):
    """Return weights and what one unit of them stands for."""
    limit = 2 ** (bits - 1) - 1
    weights = np.rint(rng.normal(scale=limit / 3, size=(n_outputs, n_units)))
    dtype = np.int8 if bits == 8 else np.int16
    return np.clip(weights, -limit, limit).astype(dtype), 0.7 * clip / limit


def draw_classes(rng, n_outputs, n_classes):
    """Return the class of every output, as a rule in order."""
    classes = np.arange(n_outputs) // (n_outputs // n_classes)
    return classes if rng.uniform() < 0.8 else rng.permutation(classes)


def measure(job):
    """Return the record of a model on a target, or None where it does not fit."""
    seed, target = job
    plan = draw_plan(seed)
    is_large = layout_of(plan).flash_tables(is_avr=True) > MOST_AVR_TABLES
    if target == "avr" and (is_large or plan.n_features > MOST_AVR_FEATURES):
        return None
    with TemporaryDirectory() as folder:
        found = cost(plan, target, Path(folder))
    return {"seed": seed, "target": target, **asdict(found)}


def measure_all(n_models, path):
    """Measure the models that `path` does not have yet and return all of them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    done = {(r["seed"], r["target"]) for r in map(json.loads, path.read_text().splitlines())}
    comparing = range(FIRST_COMPARING, FIRST_COMPARING + n_models // 2)
    seeds = [*range(n_models), *comparing]
    jobs = [(seed, t) for seed in seeds for t in BOARDS if (seed, t) not in done]
    with ProcessPoolExecutor() as pool, path.open("a") as file:
        for record in pool.map(measure, jobs):
            if record:
                file.write(json.dumps(record) + "\n")
                file.flush()
    return [json.loads(line) for line in path.read_text().splitlines()]


def measured_layout(plan):
    """Return the layout of a plan, with as many active units as the samples had that were run."""
    layout = layout_of(plan)
    if isinstance(layout, ComparisonLayout):
        is_active = plan.activations(samples_within(plan)) > plan.encoder.extremes[0]
        layout.n_active = is_active.sum(axis=1).mean()
    return layout


def fit_target(records, target):
    """Return the figures of a target."""
    is_avr = target == "avr"
    layouts = [measured_layout(draw_plan(record["seed"])) for record in records]
    terms = [terms_of(layout, is_avr) for layout in layouts]
    flash, stack, instructions = (
        np.array([record[what] for record in records], dtype=float)
        for what in ("flash", "stack", "instructions")
    )
    code = flash - [layout.flash_tables(is_avr) for layout in layouts]
    frame = stack - [layout.stack_bytes(is_avr) for layout in layouts]
    return {
        "bare_image": bare_image(target),
        "code": fit_relative([each.code for each in terms], code, flash),
        "frame": fit_above([each.frame for each in terms], frame),
        "instructions": fit_relative(
            [each.instructions for each in terms], instructions, instructions
        ),
    }


def fit_relative(rows, values, scales):
    """Return non-negative figures with the least squares of errors relative to `scales`."""
    names, times = as_matrix(rows)
    weighted = times / scales[:, None]
    norms = np.linalg.norm(weighted, axis=0)
    # What the models cannot tell apart is shared out evenly.
    penalty = RIDGE * np.eye(len(names))
    padded = np.concatenate([values / scales, np.zeros(len(names))])
    figures, _ = nnls(np.vstack([weighted / norms, penalty]), padded)
    return readable(names, figures / norms)


def fit_above(rows, values):
    """Return non-negative figures whose sums reach every value and exceed them least."""
    names, times = as_matrix(rows)
    found = linprog(times.sum(axis=0), A_ub=-times, b_ub=-values - SPARE_STACK)
    return readable(names, found.x)


def as_matrix(rows):
    """Return the names of all terms, and how often each occurs in each row."""
    names = sorted({name for row in rows for name in row})
    return names, np.array([[row.get(name, 0.0) for name in names] for row in rows])


def readable(names, figures):
    """Return figures that are not 0, in three decimals."""
    return {name: round(f, 3) for name, f in zip(names, figures, strict=True) if f > 5e-4}


def compiler_version(target):
    """Return the first line that a target's compiler says of itself."""
    return execute([BOARDS[target].target.compiler[0], "--version"]).splitlines()[0]


def report(records, target):
    """Print how far the predictions of a target lie from its records."""
    budgets = [predict_budget(draw_plan(record["seed"]), target) for record in records]
    for what in ("flash", "instructions"):
        measured = np.array([record[what] for record in records])
        errors = np.abs([getattr(b, what) for b in budgets] / measured - 1)
        print(
            f"{target} {what}: {len(errors)} models, mean error {errors.mean():.1%}, "
            f"95 of 100 within {np.quantile(errors, 0.95):.1%}, all within {errors.max():.1%}"
        )
    spare = [b.stack - record["stack"] for b, record in zip(budgets, records, strict=True)]
    print(f"{target} stack: {min(spare)} to {max(spare)} bytes more than measured")


def main():
    """Measure, fit, write the figures and say how good they are."""
    parser = argparse.ArgumentParser(description="Fit the figures of the budget.")
    parser.add_argument("--models", type=int, default=150, help="how many models to measure")
    parser.add_argument(
        "--measured", type=Path, default=ROOT / "build" / "budget.jsonl", metavar="FILE"
    )
    arguments = parser.parse_args()
    records = measure_all(arguments.models, arguments.measured)
    by_target = {t: [r for r in records if r["target"] == t] for t in BOARDS}
    content = {
        "compilers": {target: compiler_version(target) for target in BOARDS},
        "targets": {target: fit_target(of_it, target) for target, of_it in by_target.items()},
    }
    FIGURES.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    for target, of_it in by_target.items():
        report(of_it, target)


if __name__ == "__main__":
    main()
