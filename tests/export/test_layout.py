"""What the C computes with: the types that hold it."""

import pytest
from export.random_models import Settings, plan_and_samples

from hyperlvq.export.layout import Layout


@pytest.mark.parametrize(("bits", "largest_weight"), [(8, 255), (16, 2**15 - 1)])
def test_largest_dot_is_that_of_a_block_of_largest_weights(bits, largest_weight):
    plan, _ = plan_and_samples(Settings("centroids", "float", bits, 5, 40, 3, 3, 1))

    assert Layout(plan).largest_dot == 32 * 3 * largest_weight


@pytest.mark.parametrize(("clip", "clips"), [(4, True), (5, False), (6, False)])
def test_sums_that_cannot_exceed_the_clip_are_not_clipped(clip, clips):
    plan, _ = plan_and_samples(Settings("centroids", "float", 8, 5, 40, clip, 3, 1))

    assert Layout(plan).clips == clips
