"""Accuracy against flash: models of several sizes as C on an emulated Cortex-M3, and a picture.

    python bench/firmware_sizes.py --peers-python PATH    # measures, for half an hour, and draws
    python bench/firmware_sizes.py                        # draws docs/firmware_sizes.svg again

Samples, harness and environments are those of bench/firmware.py. Accuracy is that of the C, flash
the whole image; both are means over five seeds where a model depends on one. What was measured
stands in docs/firmware_sizes.csv.
"""

import argparse
import csv
import tempfile
from functools import partial
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import matplotlib
import numpy as np
from firmware import SEEDS, load_data, measure, our_firmware, rivals
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from sklearn.model_selection import cross_val_score

from hyperlvq import HyperLVQClassifier, make_classifier
from hyperlvq.export import device_settings, device_units

DOCS = Path(__file__).parents[1] / "docs"
TABLE, PICTURE = DOCS / "firmware_sizes.csv", DOCS / "firmware_sizes.svg"
COLUMNS = ("family", "model", "accuracy", "flash")
N_FEATURES, N_CLASSES = 64, 10
RECIPE_FLASH = ("3k", "5k", "8k", "16k", "32k")
NETWORK_FLASH = ("8k", "16k", "32k", "64k")
CLIPS = (7, 14, 20)
LOWEST_ACCURACY = 0.91


class Curve(NamedTuple):
    """How a family is drawn; its name stands beside one of its points, offset in points."""

    name: str
    colour: str
    point: int
    offset: tuple[float, float]
    alignment: str


FAMILIES = {
    "recipe": Curve("hyperlvq: intRVFL + GLVQ", "#c0392b", 2, (6, 8), "right"),
    "network": Curve("hyperlvq: one network, untuned", "#d35400", -1, (6, 9), "right"),
    "vote": Curve("hyperlvq: default vote, untuned", "#d35400", -1, (8, 9), "right"),
    "MLP": Curve("MLP (emlearn)", "#1f5fa8", 0, (0, -15), "center"),
    "forest": Curve("forest (emlearn)", "#2e7d32", -1, (0, -15), "center"),
    "logistic": Curve("logistic regression (m2cgen)", "#555555", -1, (10, -15), "left"),
    "SVC-RBF": Curve("RBF SVM (m2cgen)", "#6a3d9a", -1, (8, -16), "right"),
}


def main():
    """Measure where asked to, and draw."""
    parser = argparse.ArgumentParser(description="Draw accuracy against flash.")
    parser.add_argument(
        "--peers-python",
        metavar="PATH",
        help="measure, with an environment that has bench/requirements-firmware-peers.txt",
    )
    peers_python = parser.parse_args().peers_python
    if peers_python is not None:
        measure_all(peers_python)
    with TABLE.open() as file:
        draw(list(csv.DictReader(file)))


def measure_all(peers_python):
    """Write what every model takes, row by row."""
    data = load_data()
    with tempfile.TemporaryDirectory() as folder, TABLE.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        ours = (
            (family, name, our_firmware(name, make, data, Path(folder) / name))
            for family, name, make in our_models(data)
        )
        theirs = (
            (family_of(firmware[0].name), firmware[0].name, firmware)
            for firmware in rivals(peers_python, data, Path(folder), "sizes")
        )
        for models in (ours, theirs):
            for family, name, firmware in models:
                table.writerow([family, name, *accuracy_and_flash(firmware, data)])
                file.flush()


def family_of(rival):
    """Return which family a rival's name is of."""
    return next(family for family in FAMILIES if family in rival)


def our_models(data):
    """Yield families, names and what makes an unfitted model of a seed."""
    for flash in RECIPE_FLASH:
        recipe = chosen_recipe(flash, data["X_train"], data["y_train"])
        yield "recipe", f"intRVFL + GLVQ in {flash}", partial(make_classifier, **recipe)
    for flash in NETWORK_FLASH:
        n_units = device_units(N_FEATURES, N_CLASSES, max_flash=flash, input="int16")
        network = partial(HyperLVQClassifier, n_networks=1, n_units=n_units)
        yield "network", f"one network in {flash}", network
    yield "vote", "default vote", HyperLVQClassifier


def chosen_recipe(flash, X, y):
    """Return the settings of a flash size that are best in five folds of the training samples."""
    recipes = [
        {"hidden": "intrvfl", "readout": "glvq", "clip": clip, **settings}
        for clip in CLIPS
        for settings in device_settings(
            N_FEATURES, N_CLASSES, max_flash=flash, input="int16", clip=clip
        )
    ]
    return max(recipes, key=partial(cross_validated, X=X, y=y))


def cross_validated(recipe, X, y):
    """Return the mean accuracy of a recipe over five folds and five seeds."""
    models = [make_classifier(**recipe, random_state=seed) for seed in SEEDS]
    return mean(cross_val_score(model, X, y).mean() for model in models)


def accuracy_and_flash(firmware, data):
    """Return the means over seeds, as text."""
    measured = [measure(one, data["X_test"]) for one in firmware]
    accuracy = mean(np.mean(one.labels == data["y_test"]) for one in measured)
    return f"{accuracy:.4f}", f"{mean(one.flash for one in measured):.0f}"


def draw(rows):
    """Write the picture; its background is white, so that it can be read on a dark page."""
    matplotlib.rcParams.update({"svg.hashsalt": "hyperlvq", "font.size": 9.5})
    figure = Figure(figsize=(7.4, 4.2), layout="constrained")
    axes = figure.subplots()
    for family, curve in FAMILIES.items():
        points = sorted(
            (int(row["flash"]) / 1024, float(row["accuracy"]))
            for row in rows
            if row["family"] == family
        )
        is_ours = curve.name.startswith("hyperlvq")
        axes.plot(
            *zip(*points, strict=True),
            color=curve.colour,
            marker="o" if is_ours else "s",
            linewidth=2.4 if is_ours else 1.4,
            markersize=6 if is_ours else 4.5,
        )
        axes.annotate(
            curve.name,
            points[curve.point],
            curve.offset,
            textcoords="offset points",
            color=curve.colour,
            horizontalalignment=curve.alignment,
            weight="bold" if is_ours else "normal",
        )
    axes.set_xscale("log", base=2)
    axes.set_xlim(1, 900)
    axes.set_xticks([2**power for power in range(1, 10)])
    axes.set_ylim(LOWEST_ACCURACY, 0.995)
    axes.set_xlabel("flash of the whole image on a Cortex-M3, KiB")
    axes.set_ylabel("test accuracy of the C")
    axes.set_title("scikit-learn's digits: 1347 samples to train, 450 to test", loc="left")
    axes.grid(color="#dddddd")
    axes.set_axisbelow(True)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(PICTURE, facecolor="white", metadata={"Date": None})


if __name__ == "__main__":
    main()
