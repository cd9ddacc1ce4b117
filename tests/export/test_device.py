"""Settings of models that fit a device."""

import pytest
from export.firmware import BOARDS

from hyperlvq.checks import InputError
from hyperlvq.export import device_settings, device_units
from hyperlvq.export.budget import predict_budget
from hyperlvq.export.device import parse_size
from hyperlvq.export.layout import ComparisonLayout, Layout


@pytest.mark.parametrize("target", BOARDS)
@pytest.mark.parametrize(
    ("hidden", "readout", "planned"),
    [("intrvfl", "centroids", Layout.planned), ("comparisons", "rls", ComparisonLayout.planned)],
)
def test_the_largest_model_fits_and_the_next_does_not(hidden, readout, planned, target):
    device = {"chip": target, "max_flash": "16k", "max_ram": "2k", "input": "int16"}
    given = {"clip": 3} if hidden == "intrvfl" else {}
    (setting,) = device_settings(64, 10, hidden=hidden, readout=readout, **given, **device)
    n_units = setting["n_units"]

    def flash(n_units):
        return predict_budget(planned(64, n_units, 10, input="int16"), target).flash

    assert setting == {"n_units": n_units}
    assert n_units % 32 == 0
    assert flash(n_units) <= 16384 < flash(n_units + 32)
    if hidden == "comparisons":
        assert device_units(64, 10, **device) == n_units


@pytest.mark.parametrize(
    "shape", [(64, 10, 3), (300, 2, 1), (40, 26, 1), (200, 24, 1), (10, 26, 1)]
)
def test_no_avr_is_given_tables_that_it_cannot_read(shape):
    n_features, n_classes, per_class = shape
    (setting,) = device_settings(
        n_features, n_classes, prototypes_per_class=per_class, clip=3, chip="avr"
    )

    def complaint(n_units):
        return Layout.planned(n_features, n_units, n_classes, per_class).avr_complaint

    assert complaint(setting["n_units"]) == ""
    assert "bytes, but an AVR can read at most" in complaint(setting["n_units"] + 32)


def test_there_is_a_setting_for_each_number_of_prototypes_and_more_leave_fewer_units():
    settings = device_settings(64, 10, max_flash=8192, input="int16")

    assert [setting["prototypes_per_class"] for setting in settings] == [1, 2, 3]
    units = [setting["n_units"] for setting in settings]
    assert units == sorted(units, reverse=True)


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        # Large devices get enough units, and prototypes only where a readout has several per class.
        *(({"readout": readout}, [{"n_units": 2000}]) for readout in ("rls", "perceptron")),
        # What is given is kept.
        ({"n_units": 64, "prototypes_per_class": 1}, [{}]),
        ({"n_units": 64}, [{"prototypes_per_class": number} for number in (1, 2, 3)]),
    ],
)
def test_settings_are_what_is_not_given(options, settings):
    assert device_settings(4, 3, max_flash="1000k", **options) == settings


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_flash": 200}, "no model of 4 features and 3 classes fits the device"),
        ({"max_flash": "16k", "n_units": 9000}, "fits the device"),
        # Scores alone exceed the RAM.
        ({"max_ram": 64}, "fits the device"),
        ({"hidden": "rvfl"}, "rvfl with glvq cannot be exported to a device"),
        ({"readout": "kglvq"}, "intrvfl with kglvq cannot be exported to a device"),
        ({"chip": "z80"}, "must be one of 'cortex-m3', 'avr', 'riscv32', got 'z80'"),
    ],
)
def test_what_cannot_be_had_is_one_sentence(options, message):
    with pytest.raises(InputError, match=message):
        device_settings(4, 3, **options)
    if list(options) == ["max_flash"]:
        with pytest.raises(InputError, match=message):
            device_units(4, 3, **options)


@pytest.mark.parametrize("text", ["1536", "1536b", "1.5k", "1.5 KB", "1.5kB", "1.5KiB", 1536])
def test_sizes_are_read_as_people_write_them(text):
    assert parse_size(text) == 1536


@pytest.mark.parametrize("text", ["", "k", "-1", "16 m", "1e3", "16 k b"])
def test_what_is_no_size_is_refused_by_a_sentence(text):
    with pytest.raises(InputError, match="size must be a number of bytes, or of kilobytes"):
        parse_size(text)
