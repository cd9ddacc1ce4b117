"""The small model of bench/firmware.py is as small, fast and accurate as docs/firmware.md says."""

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import mean

import numpy as np
import pytest
from export.firmware import CORTEX_M3

from hyperlvq import make_classifier
from hyperlvq.export import make_plan

BENCH = Path(__file__).parents[2] / "bench" / "firmware.py"
LEAST_ACCURACY = 0.967
MOST_FLASH, MOST_RAM, MOST_INSTRUCTIONS = 8920, 800, 47_000


@cache
def bench():
    if not BENCH.is_file():
        pytest.skip("needs bench/firmware.py of the repository")
    spec = spec_from_file_location("firmware_bench", BENCH)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def digits():
    return bench().load_data()


@cache
def plan_of_seed(seed):
    settings = bench().OURS["hyperlvq, small"]
    model = make_classifier("intrvfl", "glvq", random_state=seed, **settings)
    return make_plan(
        model.fit(digits()["X_train"], digits()["y_train"]), name="digits", input="int16"
    )


def test_integer_accuracy_is_what_was_promised():
    X, y = digits()["X_test"], digits()["y_test"]

    accuracies = [np.mean(plan_of_seed(seed).predict(X) == y) for seed in bench().SEEDS]
    assert mean(accuracies) >= LEAST_ACCURACY


def test_image_fits_flash_ram_and_time(tmp_path):
    CORTEX_M3.require()
    firmware = bench().write_ours("small", plan_of_seed(0), None, tmp_path)

    measured = bench().measure(firmware, digits()["X_test"])
    assert np.array_equal(measured.labels, plan_of_seed(0).predict(digits()["X_test"]))
    assert measured.flash <= MOST_FLASH
    assert measured.ram <= MOST_RAM
    assert measured.instructions <= MOST_INSTRUCTIONS
