"""What readouts say that stop before they have converged."""

import sys
import warnings

from sklearn.exceptions import ConvergenceWarning

#: Packages between a user and what warns.
INNER_PACKAGES = ("hyperlvq", "sklearn")


def warn_not_converged(message: str) -> None:
    """Warn in the name of the code that called the library, directly or through scikit-learn.

    Python shows a warning once for each place, so it must not be one that all callers share.
    """
    stacklevel, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in INNER_PACKAGES:
        stacklevel, frame = stacklevel + 1, frame.f_back
    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel)
