"""How cost grows with samples, features, units and classes: CPU time on one thread, as slopes.

    python bench/scaling.py [-o docs/scaling.svg]

Prints a table and, with -o, draws it. A slope of 1 means that twice as much takes twice as long.
"""

import argparse
import time
from pathlib import Path
from timeit import repeat

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from measure import Table
from threadpoolctl import threadpool_limits

from hyperlvq import IntRVFLLayer, RLSClassifier
from hyperlvq.kernels.glvq import cost_and_gradient

BASE = {"samples": 8000, "features": 20, "units": 1000, "classes": 2}
VALUES = {
    "samples": (2000, 4000, 8000, 16000, 32000, 64000),
    "features": (10, 20, 40, 80, 160),
    "units": (250, 500, 1000, 2000, 4000),
    "classes": (2, 4, 8, 16, 32, 64),
}
REPEATS = 3
PARTS = ("encoding", "one GLVQ evaluation", "RLS fit")


def main():
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description="Print how cost grows.")
    parser.add_argument("-o", "--output", type=Path, help="an SVG file to draw it to")
    output = parser.parse_args().output
    curves = measured_curves()
    print(slope_table(curves))
    if output is not None:
        draw(curves, output)


def measured_curves():
    """Return the seconds of every part for the values of every size, on one thread."""
    with threadpool_limits(1):
        return {
            axis: np.array([measure(**{**BASE, axis: value}) for value in values])
            for axis, values in VALUES.items()
        }


def measure(samples, features, units, classes):
    """Return the CPU seconds of each part."""
    rng = np.random.default_rng(0)
    X, y = rng.random((samples, features)), np.arange(samples) % classes
    layer = IntRVFLLayer(units, clip=3, random_state=0).fit(X)
    activations = layer.transform(X)
    prototypes = rng.normal(size=(classes, units))
    weights = np.full(samples, 1 / samples)
    return [
        cpu_seconds(lambda: layer.transform(X)),
        cpu_seconds(
            lambda: cost_and_gradient(prototypes, np.arange(classes), activations, y, 10.0, weights)
        ),
        cpu_seconds(lambda: RLSClassifier().fit(activations, y)),
    ]


def cpu_seconds(call):
    """Return the least CPU time of several calls, which other processes disturb little."""
    return min(repeat(call, timer=time.process_time, repeat=REPEATS, number=1))


def slope_table(curves):
    """Return the exponents of growth: the slopes of lines through the logarithms."""
    rows = []
    for axis, seconds in curves.items():
        slopes = np.polyfit(np.log(VALUES[axis]), np.log(seconds), 1)[0]
        sizes = f"{axis} ({VALUES[axis][0]} to {VALUES[axis][-1]})"
        rows.append([sizes, *(f"{slope:.2f}" for slope in slopes)])
    return Table("How cost grows, as slopes", ["with the number of", *PARTS], rows, [])


def draw(curves, path):
    """Draw the curves, one panel a size."""
    matplotlib.rcParams["svg.hashsalt"] = "hyperlvq"  # the same file for the same figures
    figure = Figure(figsize=(9, 2.8), layout="constrained")
    panels = figure.subplots(1, len(curves), sharey=True)
    for panel, (axis, seconds) in zip(panels, curves.items(), strict=True):
        for part, column, marker in zip(PARTS, seconds.T, "os^", strict=True):
            panel.loglog(VALUES[axis], column, marker=marker, markersize=4, label=part)
        panel.set_xlabel(axis)
        panel.set_xticks(VALUES[axis][::2], VALUES[axis][::2])
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("CPU seconds, one thread")
    panels[-1].legend(fontsize="small", loc="upper right")
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    main()
