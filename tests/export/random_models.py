"""Fitted models of every kind that can be exported, drawn at random but the same every time."""

from dataclasses import dataclass, replace
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from hyperlvq import HyperLVQClassifier, make_classifier
from hyperlvq.export import make_plan, to_c

READOUTS = ("centroids", "perceptron", "lvq1", "glvq", "rls")
KINDS = ("conjunction", "majority", "parity")
#: The classifier that is no recipe; its networks are as many as prototypes per class.
VOTE = "vote"
#: Sizes that an AVR has room for.
SMALL = {"most_features": 60, "most_units": 300, "most_weights": 8000}
FEW_STEPS = {"perceptron": {"max_iter": 2}, "lvq1": {"max_iter": 2}, "glvq": {"max_iter": 3}}


@dataclass(frozen=True)
class Settings:
    readout: str
    input: str
    bits: int
    n_features: int
    n_units: int
    clip: int
    n_classes: int
    prototypes_per_class: int
    hidden: str = "intrvfl"

    def __str__(self):
        sizes = f"{self.n_features}x{self.n_units}-clip{self.clip}"
        outputs = f"{self.n_classes}x{self.prototypes_per_class}"
        kind = "" if self.hidden == "intrvfl" else f"{self.hidden}-"
        return f"{kind}{self.readout}-{self.input}-{self.bits}bits-{sizes}-{outputs}"


def draw_size(rng, smallest, largest):
    """Return a size, small ones as likely as large ones."""
    return int(np.exp(rng.uniform(np.log(smallest), np.log(largest + 1))))


def draw(seed, most_features=170, most_units=2000, most_weights=60_000):
    """Return random settings, all kinds in turn."""
    rng = np.random.default_rng(seed)
    settings = Settings(
        readout=READOUTS[seed % 5],
        input=("float", "int16", "int32")[seed % 3],
        bits=(8, 16)[seed // 2 % 2],
        n_features=draw_size(rng, 1, most_features),
        n_units=draw_size(rng, 8, most_units),
        clip=draw_size(rng, 1, 127),
        n_classes=draw_size(rng, 2, 26),
        prototypes_per_class=int(rng.integers(1, 6)),
    )
    n_outputs = settings.n_classes * settings.prototypes_per_class
    fits = n_outputs * settings.n_units <= most_weights
    return settings if fits else draw(seed + 30_000, most_features, most_units, most_weights)


def draw_comparing(seed, *sizes, **most):
    """Return random settings of units that compare: of a vote, or of a recipe."""
    drawn = draw(seed, *sizes, **most)
    return replace(drawn, hidden="comparisons", readout=drawn.readout if seed % 2 else VOTE)


def training_data(settings, rng, shift=0.0):
    """Return samples of overlapping classes, in ranges that make ties at half levels.

    Features of integer inputs are integers, unless a `shift` is added to all features.
    """
    whole = settings.input != "float" and not shift
    n_samples = 4 * settings.n_classes + 20
    y = np.arange(n_samples) % settings.n_classes
    centres = rng.uniform(size=(settings.n_classes, settings.n_features))
    X = np.clip(centres[y] + rng.normal(scale=0.2, size=(n_samples, settings.n_features)), 0, 1)
    X[0], X[1] = 0, 1
    ties = 2 * (settings.n_units & -settings.n_units)
    spans = rng.choice([1, 10, ties, 3 * ties, 255, 4095, 30_000], size=settings.n_features)
    lows = rng.integers(-2000, 2000, size=settings.n_features)
    X = lows + shift + (np.rint(X * spans) if whole else X * spans)
    X[:, rng.uniform(size=settings.n_features) < 0.05] = 7  # a few constant features
    return X, y


def samples_around(X, n_units, rng, n_samples=40):
    """Return samples between, on and beyond the extremes of X, and at half levels."""
    low, high = X.min(axis=0), X.max(axis=0)
    spans = high - low
    levels = rng.integers(n_units, size=(n_samples, X.shape[1]))
    halves = low + (levels + 0.5) * spans / n_units
    between = low + rng.uniform(size=halves.shape) * spans
    beyond = low + rng.choice([-2.0, -0.01, 0, 1, 1.01, 3], size=(4, X.shape[1])) * spans
    return np.concatenate([X[:n_samples], halves, between, [low, high, low + spans / 2], beyond])


def fit(settings, X, y, seed=0):
    if settings.readout == VOTE:
        networks = {"n_networks": settings.prototypes_per_class, "n_units": settings.n_units}
        return HyperLVQClassifier(**networks, random_state=seed).fit(X, y)
    parameters = {
        "n_units": settings.n_units,
        **({"clip": settings.clip} if settings.hidden == "intrvfl" else {"kinds": KINDS}),
        **FEW_STEPS.get(settings.readout, {}),
    }
    if settings.readout in ("lvq1", "glvq"):
        parameters["prototypes_per_class"] = settings.prototypes_per_class
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)
        recipe = settings.hidden, settings.readout
        return make_classifier(*recipe, random_state=seed, **parameters).fit(X, y)


def fitted_model(settings, seed=0):
    """Return a model fitted with settings."""
    return fit(settings, *training_data(settings, np.random.default_rng(seed)))


def write(settings, folder, n_samples=None):
    """Write the C of a fitted model, with a self-test if it has samples, and return the plan."""
    plan, samples = plan_and_samples(settings, n_samples=n_samples or 1)
    to_c(plan, folder, vectors=samples if n_samples else None)
    return plan


def plan_and_samples(settings, seed=0, n_samples=40, shift=0.0):
    """Return the plan of a model fitted with settings, and raw samples to try it on."""
    rng = np.random.default_rng(seed)
    X, y = training_data(settings, rng, shift)
    plan = make_plan(fit(settings, X, y), name="net", input=settings.input, bits=settings.bits)
    return plan, samples_around(X, settings.n_units, rng, n_samples)
