"""Every label of the C equals the plan's, on every target."""

import numpy as np
import pytest
from export.firmware import AVR, CLANG, CORTEX_M3, HOST, RISCV32, SANITIZERS, export, self_test
from export.random_models import Settings, draw, fit, plan_and_samples

from hyperlvq.export import compare, make_plan

N_MODELS = 60
SMALL = {"most_features": 60, "most_units": 300, "most_weights": 8000}
DATA_SETS = ("iris", "semeion", "spambase", "letter", "glass", "molec-biol-splice")


def ids(settings):
    return str(settings)


@pytest.mark.parametrize("settings", [draw(seed) for seed in range(N_MODELS)], ids=ids)
def test_host_gives_the_labels_of_the_plan(settings, tmp_path):
    plan, samples = plan_and_samples(settings)
    export(plan, samples, tmp_path)

    assert self_test(HOST, tmp_path, "-O1").wrong == 0


@pytest.mark.parametrize("settings", [draw(seed) for seed in range(100, 106)], ids=ids)
def test_clang_gives_the_labels_of_the_plan(settings, tmp_path):
    plan, samples = plan_and_samples(settings)
    export(plan, samples, tmp_path)

    assert self_test(CLANG, tmp_path).wrong == 0


@pytest.mark.parametrize("settings", [draw(seed) for seed in range(200, 206)], ids=ids)
def test_sanitizers_find_nothing(settings, tmp_path):
    plan, samples = plan_and_samples(settings)
    export(plan, samples, tmp_path)

    assert self_test(HOST, tmp_path, *SANITIZERS).wrong == 0


@pytest.mark.parametrize("settings", [draw(seed) for seed in range(300, 306)], ids=ids)
def test_cortex_m3_gives_the_labels_of_the_plan(settings, tmp_path):
    plan, samples = plan_and_samples(settings, n_samples=20)
    export(plan, samples, tmp_path)

    assert self_test(CORTEX_M3, tmp_path).wrong == 0


@pytest.mark.parametrize("settings", [draw(seed) for seed in range(400, 406)], ids=ids)
def test_riscv_gives_the_labels_of_the_plan(settings, tmp_path):
    plan, samples = plan_and_samples(settings, n_samples=20)
    export(plan, samples, tmp_path)

    assert self_test(RISCV32, tmp_path).wrong == 0


@pytest.mark.parametrize("settings", [draw(seed, **SMALL) for seed in range(500, 506)], ids=ids)
def test_avr_gives_the_labels_of_the_plan(settings, tmp_path):
    plan, samples = plan_and_samples(settings, n_samples=8)
    export(plan, samples, tmp_path)

    assert self_test(AVR, tmp_path).wrong == 0


EXTREMES = [
    Settings("glvq", "int16", 8, 1, 8, 1, 2, 1),
    Settings("glvq", "float", 8, 2, 33, 127, 2, 5),
    Settings("rls", "int16", 16, 170, 2000, 127, 2, 1),
    Settings("lvq1", "int32", 8, 129, 64, 127, 3, 1),
    Settings("centroids", "int16", 8, 300, 1999, 3, 26, 1),
    Settings("centroids", "int32", 16, 600, 40, 300, 3, 1),
]


@pytest.mark.parametrize("settings", EXTREMES, ids=ids)
def test_extreme_sizes_give_the_labels_of_the_plan(settings, tmp_path):
    plan, samples = plan_and_samples(settings)
    export(plan, samples, tmp_path)

    assert self_test(HOST, tmp_path, *SANITIZERS).wrong == 0


@pytest.mark.data
@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("name", DATA_SETS)
def test_data_of_the_collection_give_the_labels_of_the_plan(name, bits, uci, tmp_path):
    data = uci.load(name)
    rows = np.random.default_rng(0).permutation(len(data.X))[:600]
    settings = Settings("glvq", "float", bits, data.X.shape[1], 250, 3, len(set(data.y)), 2)
    model = fit(settings, data.X[rows], data.y[rows])
    plan = make_plan(model, name="net", bits=bits)
    export(plan, data.X[rows], tmp_path)

    assert self_test(HOST, tmp_path).wrong == 0
    assert compare(model, plan, data.X[rows], data.y[rows]).agreement > 0.97


def test_expected_labels_are_not_all_alike(tmp_path):
    plan, samples = plan_and_samples(draw(3))

    assert len(set(plan.predict_index(samples))) > 1


def test_self_test_counts_wrong_labels(tmp_path):
    plan, samples = plan_and_samples(draw(3))
    export(plan, samples, tmp_path)
    source = tmp_path / "net_selftest.c"
    head, table, rest = source.read_text().partition("net_expected[NET_SAMPLES] NET_FLASH = {\n")
    first, comma, others = rest.partition(",")
    wrong = (int(first) + 1) % plan.n_classes
    source.write_text(f"{head}{table}    {wrong}{comma}{others}")

    assert self_test(HOST, tmp_path).wrong == 1
