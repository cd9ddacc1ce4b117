"""Many models of one data set trained at once, with numpy or, on a GPU, with torch.

One code serves both: a `Backend` makes the arrays, and all else uses what the two have in common.
"""

from hyperlvq.batched.backend import Backend, open_backend
from hyperlvq.batched.encoding import encode_integers, encode_sigmoids
from hyperlvq.batched.glvq import (
    GLVQBatch,
    Samples,
    cut_into_batches,
    predicted_classes,
    train_glvq,
)
from hyperlvq.batched.rls import rls_accuracies, train_rls

__all__ = [
    "Backend",
    "GLVQBatch",
    "Samples",
    "cut_into_batches",
    "encode_integers",
    "encode_sigmoids",
    "open_backend",
    "predicted_classes",
    "rls_accuracies",
    "train_glvq",
    "train_rls",
]
