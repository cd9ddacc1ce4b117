"""What a device learns, in numpy: the twins of `NAME_learn` in C.

The perceptron rule keeps prototypes as integers, q = w·2^f. With a rate of α = r/2^f every
number of `hyperlvq.kernels.online.perceptron_pass` on w is then an integer divided by a power of
two, which float64 holds exactly: kernel, twin and device agree bit for bit, as long as no entry
reaches the 16 bits' end, where twin and device stop. The GLVQ rule is the kernel itself, in
float32 on the device.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.export.encoders import Thermometer
from hyperlvq.export.fitted import fitted_parts
from hyperlvq.export.plan import Plan, make_plan
from hyperlvq.kernels.scores import squared_distances
from hyperlvq.registry import AUTO_STEP, USUAL_RATE, USUAL_SLOPE

LARGEST_ENTRY = 2**15 - 1
#: What the sum of an entry and a step may reach on the device.
LARGEST_SUM = 2**31 - 1
#: Prototypes may grow to this many times their largest entry before they stop.
HEADROOM = 2
MOST_FRACTION_BITS = 14
#: Distances that differ by less of themselves may change places in float32.
CLEAR_SHARE = 1e-4


@dataclass(eq=False)
class _Learner(ABC):
    plan: Plan  # the model it starts from: scaling, keys and classes of the outputs
    prototypes: np.ndarray  # n_outputs × n_units

    def predict_index(self, X: Any) -> np.ndarray:
        """Return the class index of each sample."""
        closest = self._closeness(self.plan.activations(X)).argmax(axis=1)
        return self.plan.output_classes[closest]

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each sample."""
        return self.plan.classes[self.predict_index(X)]

    @abstractmethod
    def _closeness(self, activations):
        """Return a number per sample and prototype that is the largest for the closest."""


@dataclass(eq=False)
class PerceptronLearner(_Learner):
    """Perceptron learning in integers, as on the device.

    Use `make_learner` to create a learner. `learn` takes samples and their class indices in the
    order of `plan.classes`.

    Attributes
    ----------
    plan : Plan
        The initial model with its scaling, keys and output classes.
    prototypes : ndarray of shape (n_outputs, n_units), of int16
        Prototypes as integers q that stand for q/2^f. `learn` changes them in place.
    fraction_bits : int
        Number of fractional bits f.
    rate : int
        After a mistake, this multiple of the activations is added to the prototype of the right
        class and subtracted from the predicted one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import make_classifier
    >>> from hyperlvq.export import make_learner
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_classifier("intrvfl", "centroids", n_units=64, random_state=0).fit(X, y)
    >>> learner = make_learner(model, rule="perceptron")
    >>> mistakes = [learner.learn(X, y) for _ in range(5)]
    >>> mistakes[-1] < mistakes[0]
    True
    """

    rule: ClassVar[str] = "perceptron"
    fraction_bits: int
    rate: int

    def learn(self, X: Any, y_index: Any) -> int:
        """Learn from samples one by one and count the mistakes."""
        activations = self.plan.activations(X).astype(np.int64)
        return sum(map(self._learn_one, activations, y_index))

    def _closeness(self, h):
        """Return ‖2^f h‖² - ‖2^f h - q‖² for every prototype."""
        q = self.prototypes.astype(np.int64)
        return (2 << self.fraction_bits) * (h.astype(np.int64) @ q.T) - np.square(q).sum(axis=1)

    def _learn_one(self, h, label):
        scores, is_own = self._closeness(h), self.plan.output_classes == label
        if is_own.all() or not is_own.any():
            return 0
        own = np.flatnonzero(is_own)[scores[is_own].argmax()]
        if scores.argmax() == own:
            return 0
        other = np.flatnonzero(~is_own)[scores[~is_own].argmax()]
        for output, step in ((own, self.rate * h), (other, -self.rate * h)):
            moved = self.prototypes[output] + step
            self.prototypes[output] = np.clip(moved, -LARGEST_ENTRY, LARGEST_ENTRY)
        return 1


@dataclass(eq=False)
class GLVQLearner(_Learner):
    """Online GLVQ learning, as on the device.

    Computations are in float64 here and in float32 on the device.

    Use `make_learner` to create a learner. `learn` takes samples and their class indices in the
    order of `plan.classes`.

    Attributes
    ----------
    plan : Plan
        The initial model with its scaling, keys and output classes.
    prototypes : ndarray of shape (n_outputs, n_units)
        Prototypes, which `learn` changes in place.
    slope : float
        Slope β of the sigmoid.
    rate : float
        Learning rate α.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import make_classifier
    >>> from hyperlvq.export import make_learner
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_classifier("intrvfl", "glvq", n_units=64, max_iter=1, tol=1, random_state=0)
    >>> learner = make_learner(model.fit(X, y))
    >>> costs = [learner.learn(X, y) for _ in range(5)]
    >>> bool(costs[-1] < costs[0])
    True
    """

    rule: ClassVar[str] = "glvq"
    slope: float
    rate: float

    def is_clear(self, X: Any) -> np.ndarray:
        """Check that float32 separates the closest prototype from the next."""
        distances = np.sort(-self._closeness(self.plan.activations(X)), axis=1)
        return distances[:, 1] - distances[:, 0] > CLEAR_SHARE * distances[:, 1]

    def learn(self, X: Any, y_index: Any) -> float:
        """Learn from samples one by one and sum their costs."""
        from hyperlvq.kernels.online import glvq_pass  # compiled, which writing C does without

        classes, labels = self.plan.output_classes, np.asarray(y_index)
        known = np.flatnonzero(np.isin(labels, classes))
        activations = self.plan.activations(X)
        return glvq_pass(
            activations, labels, known, self.prototypes, classes, self.slope, self.rate
        )

    def _closeness(self, activations):
        return -squared_distances(activations, self.prototypes)


def make_learner(
    model: Any,
    *,
    name: str = "model",
    input: str = "float",  # noqa: A002
    rule: str | None = None,
    learning_rate: float | None = None,
) -> PerceptronLearner | GLVQLearner:
    """Create a Python model that learns as a trainable export does.

    Parameters
    ----------
    model : Pipeline or ModelFile
        A fitted model as for `make_plan`, with a prototype readout.
    name, input : str
        As for `make_plan`.
    rule : {"perceptron", "glvq"}, optional
        Learning rule. The default is "glvq" for `GLVQClassifier` and "perceptron" otherwise.
    learning_rate : float, optional
        Learning rate α. By default that of the readout, if it has one.

    Returns
    -------
    learner : PerceptronLearner or GLVQLearner
        A model that learns as the device does.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import make_classifier
    >>> from hyperlvq.export import make_learner
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_classifier("intrvfl", "glvq", n_units=64, random_state=0).fit(X, y)
    >>> learner = make_learner(model, name="iris")
    >>> type(learner).__name__, learner.predict(X[:1]).tolist()
    ('GLVQLearner', [0])
    """
    plan = make_plan(model, name=name, input=input, bits=16)
    parts = fitted_parts(model)
    if not isinstance(plan.encoder, Thermometer):
        raise InputError("only models with the hidden layer intrvfl can learn on a device")
    if parts.record.device_rule is None:
        raise InputError(
            f"{parts.readout.kind} has no prototypes, which learning on a device needs"
        )
    if learning_rate is not None and not 0 < learning_rate < np.inf:
        raise InputError(f"learning_rate must be a finite number above 0, got {learning_rate!r}")
    rule = rule or parts.record.device_rule
    if rule not in ("perceptron", "glvq"):
        raise InputError(f"rule must be 'perceptron' or 'glvq', got {rule!r}")
    make = _perceptron if rule == "perceptron" else _glvq
    return make(plan, parts.readout, learning_rate)


def _perceptron(plan, readout, learning_rate):
    prototypes = readout.learnt["prototypes_"]
    largest = max(np.abs(prototypes).max(), plan.encoder.limit / LARGEST_ENTRY)
    fraction_bits = min(int(np.log2(LARGEST_ENTRY / (HEADROOM * largest))), MOST_FRACTION_BITS)
    if fraction_bits < 1:
        raise InputError(f"prototypes of up to {largest:g} are too large to learn in 16 bits")
    one = 2**fraction_bits
    usual = max(USUAL_RATE, 1 / one)
    own = readout.parameters["learning_rate"] if plan.readout == "perceptron" else usual
    rate = float(learning_rate or own)
    steps, most_steps = np.rint(rate * one), (LARGEST_SUM - LARGEST_ENTRY) // plan.encoder.limit
    if not 1 <= steps <= most_steps:
        raise InputError(
            f"learning_rate must be between {1 / one:g} and {most_steps / one:g} on the device, "
            f"got {rate:g}"
        )
    scaled = np.rint(prototypes * one).astype(np.int16)
    return PerceptronLearner(plan, scaled, fraction_bits, int(steps))


def _glvq(plan, readout, learning_rate):
    is_own = plan.readout == "glvq"
    like = {**readout.parameters, **readout.learnt} if is_own else {"slope_": USUAL_SLOPE}
    rate = learning_rate or like.get("learning_rate_", like.get("learning_rate"))
    if not rate or rate == "auto":
        rate = AUTO_STEP / like["slope_"] * plan.n_units * plan.encoder.limit**2
    prototypes = readout.learnt["prototypes_"].astype(np.float64)
    return GLVQLearner(plan, prototypes, float(like["slope_"]), float(rate))
