"""The RVFL hidden layer: sigmoids of random projections."""

from scipy.special import expit


def project(X, weights, biases):
    """Return h = 1/(1 + exp(-(Wx + b))) for every row of X, in its precision."""
    activations = X @ weights.T.astype(X.dtype, copy=False)
    activations += biases.astype(X.dtype, copy=False)
    return expit(activations, out=activations)
