"""Settings as data: those `make_classifier` starts from, and small grids around them.

Both come from the study: see "Where the defaults come from" in docs/study.
"""

from collections.abc import Mapping
from typing import Any

Recipe = tuple[str, str]

#: By hidden layer and readout; a recipe that is not here has the defaults of its parts.
RECIPE_DEFAULTS: Mapping[Recipe, Mapping[str, Any]] = {
    ("features", "rls"): {"alpha": 4.0},
    ("features", "glvq"): {"slope": 5},
    ("rvfl", "rls"): {"n_units": 1000, "alpha": 16.0},
    ("rvfl", "glvq"): {"n_units": 300, "slope": 12},
    ("intrvfl", "rls"): {"n_units": 1000, "clip": 3, "alpha": 512.0},
    ("intrvfl", "glvq"): {"n_units": 1000, "clip": 7, "slope": 12, "prototypes_per_class": 3},
}

# For intRVFL the best penalty lies beyond the paper's grid, and more of them cost nothing.
_POWERS_OF_TWO = tuple(2.0**exponent for exponent in range(-10, 12))
_UNITS = (100, 300, 1000)
_CLIPS = (1, 3, 7)
_SLOPES = (5, 12)
_PROTOTYPES = (1, 3)

QUICK_GRIDS: Mapping[Recipe, Mapping[str, tuple]] = {
    ("features", "rls"): {"alpha": _POWERS_OF_TWO},
    ("features", "glvq"): {"slope": _SLOPES},
    ("features", "kglvq"): {
        "prototypes_per_class": _PROTOTYPES,
        "slope": (10,),
        "gamma": (0.1, 0.3, 1.0),
    },
    ("rvfl", "rls"): {"n_units": _UNITS, "alpha": _POWERS_OF_TWO},
    ("rvfl", "glvq"): {"n_units": _UNITS, "slope": _SLOPES},
    ("intrvfl", "rls"): {"n_units": _UNITS, "clip": _CLIPS, "alpha": _POWERS_OF_TWO},
    ("intrvfl", "glvq"): {
        "n_units": (1000,),
        "clip": _CLIPS,
        "slope": _SLOPES,
        "prototypes_per_class": _PROTOTYPES,
    },
}
