"""Plot activations before and after clipping, and the similarity of samples."""

import matplotlib.pyplot as plt
import numpy as np
from shared import BLUE, GREEN, GREY, ORANGE
from sklearn.datasets import load_digits
from sklearn.preprocessing import minmax_scale

from hyperlvq import IntRVFLLayer

N_UNITS, NO_CLIP = 2000, 127
X = minmax_scale(load_digits().data)
sample = X[:1]


def activations(samples, clip):
    """Encode samples, with the same keys for every clip."""
    layer = IntRVFLLayer(N_UNITS, clip, random_state=0).fit(samples)
    return layer.transform(samples).astype(float)


figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
for clip, colour, label in (
    (NO_CLIP, GREY, "the sum over 64 features"),
    (7, ORANGE, "clipped at 7"),
):
    numbers, counts = np.unique(activations(sample, clip), return_counts=True)
    left.bar(numbers, counts, width=1.6, color=colour, label=label, alpha=0.75)
left.set(
    xlabel="activation of a unit",
    ylabel=f"units of {N_UNITS}",
    title="One digit's activations",
    ylim=(0, 560),
)
left.legend()

# From the digit to 1 - x, as far away as its features can be.
steps = np.linspace(0, 1, 21)
samples = np.array([(1 - step) * sample[0] + step * (1 - sample[0]) for step in steps])
for clip, colour in ((1, BLUE), (7, ORANGE), (NO_CLIP, GREEN)):
    encoded = activations(samples, clip)
    lengths = np.linalg.norm(encoded, axis=1)
    cosine = encoded @ encoded[0] / (lengths * lengths[0])
    right.plot(
        steps, cosine, color=colour, label="no clip" if clip == NO_CLIP else f"clip = {clip}"
    )
right.set(
    xlabel="distance moved by the features",
    ylabel="cosine similarity to the start",
    title="Similarity is kept",
)
right.legend()
