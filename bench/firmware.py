"""Models as C on an emulated Cortex-M3: accuracy, flash, RAM and instructions, ours and rivals'.

    python bench/firmware.py [--peers-python PATH | --predicted]

Every model is trained on the same 1347 of scikit-learn's digits and predicts the other 450 on
the emulator, in C built by the same lines; where a model depends on a seed, figures are means
over five. PATH is the interpreter of an environment that has
bench/requirements-firmware-peers.txt. Needs arm-none-eabi-gcc and qemu-system-arm, which
tools/install-firmware-tools installs.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import train_test_split

from hyperlvq import HyperLVQClassifier, make_classifier
from hyperlvq.export import make_plan, predict_budget, to_c

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from export.firmware import CORTEX_M3, compiled, cost, execute, linked, section_bytes

HERE = Path(__file__).parent
HARNESS = HERE / "firmware"
SEEDS = range(5)
#: Chosen by cross-validation on the training samples: see docs/firmware.md.
OURS: dict[str, dict[str, Any]] = {
    "hyperlvq, small": {"n_units": 152, "prototypes_per_class": 4, "clip": 20, "slope": 16},
    "hyperlvq, 16 KB": {"n_units": 256, "prototypes_per_class": 5, "clip": 14, "slope": 20},
}
OURS["hyperlvq, small"]["tol"], OURS["hyperlvq, 16 KB"]["tol"] = 1e-5, 1e-6
#: What has nothing to tune: parameters of HyperLVQClassifier.
VOTES: dict[str, dict[str, Any]] = {
    "hyperlvq, one network of 800": {"n_networks": 1, "n_units": 800},
    "hyperlvq, default vote": {},
}
OPTIONS = ("-std=c99", "-ffunction-sections", "-fdata-sections")
#: Else the loops of start-up, which every image has, pull in memcpy and memset.
HARNESS_OPTIONS = ("-fno-tree-loop-distribute-patterns",)
RESULT = re.compile(r"labels (\S+) instructions (\d+) stack (\d+)")
DTYPES: Mapping[str, Any] = {"int16_t": np.int16, "float": np.float32, "double": np.float64}
OUR_HEADER = """#include "digits.h"
#define BENCH_FEATURES DIGITS_FEATURES
typedef digits_value bench_value;
#define bench_predict digits_predict
"""


@dataclass(frozen=True)
class Firmware:
    """A model's C in a folder, and what Python predicts of the test samples."""

    name: str
    folder: Path
    value: str
    predicted: np.ndarray
    include: str = "."
    factor: int = 1


@dataclass(frozen=True)
class Measured:
    """What the linked image takes and does on the emulator."""

    labels: np.ndarray
    flash: int
    ram: int
    instructions: float


def main():
    """Print the table, row by row as models are measured."""
    parser = argparse.ArgumentParser(description="Print the table of models on a Cortex-M3.")
    parser.add_argument(
        "--peers-python",
        metavar="PATH",
        help="interpreter of an environment that has bench/requirements-firmware-peers.txt",
    )
    parser.add_argument(
        "--predicted",
        action="store_true",
        help="print what units that compare take and what was predicted, instead",
    )
    options = parser.parse_args()
    if options.predicted:
        print_predicted()
        return
    peers_python = options.peers_python
    data = load_data()
    print("| model | accuracy, Python / C | agreement | flash B | RAM B | instructions |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        recipe = partial(make_classifier, "intrvfl", "glvq")
        models = {name: partial(recipe, **settings) for name, settings in OURS.items()}
        models |= {name: partial(HyperLVQClassifier, **each) for name, each in VOTES.items()}
        for name, make in models.items():
            print(row(our_firmware(name, make, data, Path(folder) / name), data), flush=True)
        if peers_python is not None:
            for firmware in rivals(peers_python, data, Path(folder), "table"):
                print(row(firmware, data), flush=True)


def print_predicted():
    """Print what networks of comparisons take without a harness, beside the budget."""
    print("| model | flash B | predicted | stack B | at most | instructions | predicted |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    networks = {"one network of 4000 units": {"n_networks": 1, "n_units": 4000}}
    for name, load, kind in (("iris", load_iris, "float"), ("digits", load_digits, "int16")):
        X, y = load(return_X_y=True)
        X, _, y, _ = train_test_split(X, y, stratify=y, random_state=0)
        for what, parameters in (networks | {"the default vote": {}}).items():
            model = HyperLVQClassifier(random_state=0, **parameters).fit(X, y)
            plan = make_plan(model, name="net", input=kind)
            with tempfile.TemporaryDirectory() as folder:
                taken = cost(plan, "cortex-m3", Path(folder))
            budget = predict_budget(plan, "cortex-m3")
            pairs = [
                f"{getattr(taken, figure):,.0f} | {getattr(budget, figure):,.0f}"
                for figure in ("flash", "stack", "instructions")
            ]
            print(f"| {name}, {what}, {kind} |", " | ".join(pairs), "|", flush=True)


def load_data():
    """Return train and test arrays by name: raw pixels, from 0 to 16."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=450, stratify=y, random_state=0
    )
    return {"X_train": X_train, "X_test": X_test, "y_train": y_train, "y_test": y_test}


def our_firmware(name, make, data, folder):
    """Return our model's C, one for each seed; what Python predicts is the float model's."""
    found = []
    for seed in SEEDS:
        model = make(random_state=seed).fit(data["X_train"], data["y_train"])
        plan = make_plan(model, name="digits", input="int16")
        found.append(write_ours(name, plan, model.predict(data["X_test"]), folder / str(seed)))
    return found


def write_ours(name, plan, predicted, folder):
    """Write a plan's C and what the harness must know of it."""
    to_c(plan, folder)
    (folder / "model.h").write_text(OUR_HEADER)
    return Firmware(name, folder, "int16_t", predicted)


def rivals(python, data, folder, choice):
    """Return the C of a choice of rivals, lists of a model with different seeds, in their order."""
    arrays = folder / "data.npz"
    np.savez(arrays, **data)
    output = folder / "rivals"
    command = [Path(python).absolute(), HARNESS / "rivals.py", arrays, output, choice]
    subprocess.run(command, check=True, cwd=folder)  # where emlearn leaves what it compiles
    by_name: dict[str, list[Firmware]] = {}
    for about in sorted(output.glob("*/about.json"), key=lambda path: path.stat().st_mtime_ns):
        fields = json.loads(about.read_text())
        predicted = np.array(fields.pop("predicted"))
        firmware = Firmware(folder=about.parent, predicted=predicted, **fields)
        by_name.setdefault(firmware.name, []).append(firmware)
    return by_name.values()


def row(firmware, data):
    """Build and run the same model with every seed, and return its row."""
    measured = [measure(one, data["X_test"]) for one in firmware]
    truth = data["y_test"]
    in_python = mean(np.mean(one.predicted == truth) for one in firmware)
    in_c = mean(np.mean(one.labels == truth) for one in measured)
    agreement = mean(
        np.mean(one.predicted == found.labels)
        for one, found in zip(firmware, measured, strict=True)
    )
    cells = [
        firmware[0].name,
        f"{in_python:.3f} / {in_c:.3f}",
        f"{agreement:.3f}",
        *(f"{mean(getattr(one, part) for one in measured):,.0f}" for part in ("flash", "ram")),
        f"{mean(one.instructions for one in measured):,.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def measure(firmware, X):
    """Build an image, run the samples through it and return what it took.

    Flash is the whole image: start-up, harness, model and what it needs of the libraries. RAM is
    its static data, the deepest stack and one sample.
    """
    image = build(firmware)
    text, data, bss = section_bytes(CORTEX_M3, image)
    values = (firmware.factor * X).astype(DTYPES[firmware.value])
    labels, instructions, stack = emulate(image, values)
    return Measured(
        labels, text + data, data + bss + stack + values[0].nbytes, instructions / len(X)
    )


def build(firmware):
    """Compile a model with the harness and return the linked image."""
    folder = firmware.folder
    options = (*OPTIONS, "-w", f"-I{firmware.include}")
    objects = [compiled(CORTEX_M3, source, folder, *options) for source in folder.glob("*.c")]
    harness = (HARNESS / "main.c", CORTEX_M3.port)
    options += HARNESS_OPTIONS
    objects += [compiled(CORTEX_M3, source, folder, *options) for source in harness]
    return linked(CORTEX_M3, objects, folder, *OPTIONS)


def emulate(image, values):
    """Return the labels of samples, the instructions of all of them and the deepest stack."""
    samples = image.with_name("samples.bin")
    samples.write_bytes(np.array([len(values), 0], dtype=np.uint32).tobytes() + values.tobytes())
    path = str(samples).replace(",", ",,")
    loader = f"loader,file={path},addr=0x21000000,force-raw=on"
    emulator, *options = CORTEX_M3.run
    found = RESULT.search(execute([emulator, "-device", loader, *options, image], seconds=3600))
    if found is None:
        raise RuntimeError(f"{image} reported nothing")
    labels = np.frombuffer(found[1].encode(), dtype=np.uint8).astype(int) - ord("0")
    return labels, int(found[2]), int(found[3])


if __name__ == "__main__":
    main()
