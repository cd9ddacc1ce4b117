"""Settings of models that fit a device."""

import pytest
from export.firmware import BOARDS

from hyperlvq.checks import InputError
from hyperlvq.export import device_settings, device_units
from hyperlvq.export.budget import predict_budget
from hyperlvq.export.comparison_layout import ComparisonLayout
from hyperlvq.export.device import parse_size
from hyperlvq.export.layout import Layout


def largest_units(n_features, n_classes, per_class=1, **options):
    """Return the number of units that a device can hold."""
    (setting,) = device_settings(
        n_features, n_classes, prototypes_per_class=per_class, clip=3, **options
    )
    assert list(setting) == ["n_units"]
    return setting["n_units"]


@pytest.mark.parametrize("target", BOARDS)
def test_the_largest_number_of_units_fits_and_the_next_does_not(target):
    n_units = largest_units(64, 10, 2, chip=target, max_flash="16k", max_ram="2k")

    def flash(n_units):
        return predict_budget(Layout.planned(64, n_units, 10, 2), target).flash

    assert n_units % 32 == 0
    assert flash(n_units) <= 16384 < flash(n_units + 32)


@pytest.mark.parametrize("target", BOARDS)
def test_the_largest_network_that_compares_fits_and_the_next_does_not(target):
    n_units = device_units(64, 10, chip=target, max_flash="16k", max_ram="2k", input="int16")
    (setting,) = device_settings(
        *(64, 10), hidden="comparisons", readout="rls", chip=target, max_flash="16k", input="int16"
    )

    def flash(n_units):
        layout = ComparisonLayout.planned(64, n_units, 10, input="int16")
        return predict_budget(layout, target).flash

    assert setting == {"n_units": n_units}
    assert flash(n_units) <= 16384 < flash(n_units + 32)


@pytest.mark.parametrize(
    "shape", [(64, 10, 3), (300, 2, 1), (40, 26, 1), (200, 24, 1), (10, 26, 1)]
)
def test_no_avr_is_given_tables_that_it_cannot_read(shape):
    n_units = largest_units(*shape, chip="avr")
    n_features, n_classes, per_class = shape

    def complaint(n_units):
        return Layout.planned(n_features, n_units, n_classes, per_class).avr_complaint

    assert complaint(n_units) == ""
    assert "bytes of" in complaint(n_units + 32)


def test_there_is_a_setting_for_each_number_of_prototypes_and_more_leave_fewer_units():
    settings = device_settings(64, 10, max_flash=8192, input="int16")

    assert [setting["prototypes_per_class"] for setting in settings] == [1, 2, 3]
    units = [setting["n_units"] for setting in settings]
    assert units == sorted(units, reverse=True)


@pytest.mark.parametrize("readout", ["rls", "centroids", "perceptron"])
def test_readouts_of_one_output_per_class_have_units_only(readout):
    (setting,) = device_settings(20, 3, max_flash="4k", readout=readout)

    assert list(setting) == ["n_units"]


def test_what_is_given_is_kept_and_large_devices_get_enough_units():
    assert device_settings(4, 3, max_flash="16k", n_units=64, prototypes_per_class=1) == [{}]
    assert largest_units(4, 3, max_flash="1000k") == 2000


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


def test_network_that_no_device_holds_is_one_sentence():
    with pytest.raises(InputError, match="no model of 4 features and 3 classes fits the device"):
        device_units(4, 3, max_flash=200)


@pytest.mark.parametrize("text", ["1536", "1536b", "1.5k", "1.5 KB", "1.5kB", "1.5KiB", 1536])
def test_sizes_are_read_as_people_write_them(text):
    assert parse_size(text) == 1536


@pytest.mark.parametrize("text", ["", "k", "-1", "16 m", "1e3", "16 k b"])
def test_what_is_no_size_is_refused_by_a_sentence(text):
    with pytest.raises(InputError, match="a size is a number of bytes or of kilobytes"):
        parse_size(text)
