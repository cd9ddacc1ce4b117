"""The settings that `make_classifier` starts from, as data.

They come from the study: see "Where the defaults come from" in docs/study.
"""

from collections.abc import Mapping
from typing import Any

Recipe = tuple[str, str]

#: By hidden layer and readout; a recipe that is not here has the defaults of its parts.
RECIPE_DEFAULTS: Mapping[Recipe, Mapping[str, Any]] = {
    ("features", "rls"): {"alpha": 4.0},
    ("features", "glvq"): {"slope": 12, "prototypes_per_class": 3, "init_noise": 0.1},
    ("rvfl", "rls"): {"n_units": 1000, "alpha": 16.0},
    ("rvfl", "glvq"): {
        "n_units": 300,
        "slope": 12,
        "prototypes_per_class": 3,
        "init_noise": 0.1,
    },
    ("intrvfl", "rls"): {"n_units": 1000, "clip": 3, "alpha": 512.0},
    ("intrvfl", "glvq"): {"n_units": 1000, "clip": 7, "slope": 12, "prototypes_per_class": 3},
}
