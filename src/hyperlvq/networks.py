"""Networks of comparisons that choose their own settings, and the weights of their vote."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from hyperlvq.kernels.comparisons import compare_rows, cuts_of, draw_units
from hyperlvq.kernels.leave_one_out import (
    ALPHAS,
    PenaltyPath,
    TallProblem,
    Tried,
    WeightedSamples,
    WideProblem,
    log_loss,
)
from hyperlvq.kernels.scores import softmax_probabilities
from hyperlvq.kernels.threads import block_threads, single_blas_thread
from hyperlvq.kernels.units import Units, places_of

#: The kinds of networks, in turn; the first one tells which features are relevant.
KINDS_IN_TURN = ("conjunction", "majority", "parity")
USUAL_UNITS, MANY_UNITS = 4000, 8000
#: The numbers of samples that many units pay for, from the first to the last.
MANY_UNITS_BETWEEN = 911, 4000
#: Of a network that only tells which features are relevant: it sees the checked samples alone.
SCOUT_UNITS = 1000
#: Samples whose features are permuted to tell.
RELEVANCE_ROWS = 1000
#: How many samples it takes to believe the relevances as much as that all are equal.
RELEVANCE_PRIOR = 1000
#: Of more samples than units, so many get left-out scores.
CHECKED_ROWS = 4096
#: For so few samples all penalties are tried, by one thread: factoring is too quick for more.
FEW_SAMPLES = 1000
#: How strongly weights are drawn to equal ones, in samples.
WEIGHT_PRIOR = 3


class Network(NamedTuple):
    """A trained network."""

    kind: str
    units: Units
    coefficients: np.ndarray  # classes × units
    intercepts: np.ndarray
    tried: list[Tried]
    chosen: Tried  # one of them
    seconds: float


class Checked(NamedTuple):
    """The samples that have left-out scores, and the weight of all samples."""

    y: np.ndarray
    weights: np.ndarray
    total: float


class Trainer:
    """Trains networks on the same samples, one after the other."""

    def __init__(
        self, samples: WeightedSamples, n_units: int | str, rng: np.random.RandomState, verbose: int
    ) -> None:
        self.samples, self.rng, self.verbose = samples, rng, verbose
        fewest, most = MANY_UNITS_BETWEEN
        usual = MANY_UNITS if fewest <= len(samples.y) <= most else USUAL_UNITS
        self.n_units = usual if isinstance(n_units, str) else int(n_units)
        self.checked_rows = rng.permutation(len(samples.y))[:CHECKED_ROWS]
        self.cuts = [cuts_of(column, samples.weights) for column in samples.X.T]
        self.started = perf_counter()
        #: Where the search for the next network's penalty starts, the last one's.
        self.step = len(ALPHAS) // 2

    def train(
        self,
        n_networks: int,
        time_limit: float | None,
        on_network: Callable[[int, int], None] | None = None,
    ) -> list[Network]:
        """Return networks: as many as asked for, or for which there is time, at least one.

        At the start and after each network `on_network` is told how many are trained, of how many:
        one that votes alone has a scout, which does not.
        """
        is_alone, n_all = n_networks == 1, max(n_networks, 2)
        tell = on_network or (lambda n_trained, n_all: None)
        tell(0, n_all)
        first = self._scout() if is_alone else self._train_one(KINDS_IN_TURN[0], self.n_units, None)
        networks = [] if is_alone else [first]
        self._report(first, networks, n_networks)
        self.relevances = relevances_of(first, self.samples, self.rng)
        tell(1, n_all)
        chances = self._chances()
        while len(networks) < n_networks:
            slowest = max((network.seconds for network in networks), default=0)
            is_late = perf_counter() - self.started + slowest > (time_limit or np.inf)
            if networks and is_late:
                self._say(f"stopped because of time_limit={time_limit:g} s")
                break
            kind = KINDS_IN_TURN[len(networks) % len(KINDS_IN_TURN)]
            networks.append(self._train_one(kind, self.n_units, chances))
            self._report(networks[-1], networks, n_networks)
            tell(len(networks) + is_alone, n_all)
        return networks

    def _report(self, network: Network, voting: list[Network], n_networks: int) -> None:
        """Say what came of a network, and how long those that are missing will take."""
        chosen, n_left = network.chosen, n_networks - len(voting)
        name = f"network {len(voting)} of {n_networks}" if voting else "feature relevances"
        so_far = f"{perf_counter() - self.started:.1f} s elapsed"
        if voting and n_left:
            seconds = n_left * sum(each.seconds for each in voting) / len(voting)
            so_far += f", about {seconds:.1f} s left"
        self._say(
            f"{name}: {len(network.units.kinds)} {network.kind} units, alpha {chosen.alpha:g}, "
            f"leave-one-out accuracy {1 - chosen.error:.3f}, log loss {chosen.log_loss:.3f}, "
            f"{so_far}"
        )

    def _say(self, message: str) -> None:
        if self.verbose:
            print(message, flush=True)

    def _scout(self) -> Network:
        """Return a small network that has seen no more samples than it takes to judge features."""
        few = Trainer(self.samples.take(self.checked_rows), self.n_units, self.rng, self.verbose)
        scout = few._train_one(KINDS_IN_TURN[0], min(self.n_units, SCOUT_UNITS), None)
        self.step = few.step
        return scout

    def _chances(self) -> np.ndarray:
        """Return how often features are to be read, between their relevances and all alike."""
        total, is_usable = self.samples.weights.sum(), np.array([c is not None for c in self.cuts])
        prior = RELEVANCE_PRIOR / max(is_usable.sum(), 1)
        return (total * self.relevances + prior) / (total + RELEVANCE_PRIOR)

    def _train_one(self, kind: str, n_units: int, chances: np.ndarray | None) -> Network:
        started = perf_counter()
        units = draw_units(kind, n_units, self.cuts, self.rng, chances)

        def encode(X):
            return compare_rows(X, units, n_threads=1)

        n_samples = len(self.samples.y)
        with block_threads(blocks_per_thread=1) as map_blocks:
            if n_samples > n_units:
                problem: Any = TallProblem(self.samples, encode, self.checked_rows, map_blocks)
            else:
                problem = WideProblem(self.samples, encode, map_blocks)
        path = PenaltyPath(problem)
        if n_samples <= FEW_SAMPLES:
            with single_blas_thread:
                self.step = path.best()
        else:
            self.step = path.best_near(self.step)
        coefficients, intercepts = problem.coefficients(path.tried[self.step].solution)
        self.checked = Checked(problem.y, problem.weights, problem.total)
        chosen = path.tried[self.step]._replace(solution=None)
        tried = [
            chosen if step == self.step else each._replace(solution=None, scores=np.empty(0))
            for step, each in sorted(path.tried.items())
        ]
        seconds = perf_counter() - started
        return Network(kind, units, coefficients, intercepts, tried, chosen, seconds)


def relevances_of(
    network: Network, samples: WeightedSamples, rng: np.random.RandomState
) -> np.ndarray:
    """Return the share of each feature in how much scores change when its values are permuted."""
    chosen, others = (rng.permutation(len(samples.y))[:RELEVANCE_ROWS] for _ in range(2))
    X, weights = samples.X[chosen], samples.weights[chosen]
    units, changes = network.units, np.zeros(X.shape[1])
    n_inputs = len(units.features) // len(units.kinds)
    for feature, places in places_of(units.features):
        reading = np.unique(places // n_inputs)
        few = units.take(reading)
        columns, index = np.unique(few.features, return_inverse=True)
        few = few._replace(features=index.astype(np.int32))
        permuted = np.where(columns == feature, samples.X[others, feature, None], X[:, columns])
        before, after = (compare_rows(each, few, n_threads=1) for each in (X[:, columns], permuted))
        moved = (after - before) @ network.coefficients[:, reading].T
        changes[feature] = weights @ np.square(moved).sum(axis=1)
    total = changes.sum()
    return changes / total if total > 0 else np.full(len(changes), 1 / len(changes))


def vote_weights(networks: Sequence[Network], checked: Checked) -> np.ndarray:
    """Return the weights of networks whose weighted left-out scores have the least log loss.

    Scores are those times the temperature. Weights are not negative, and drawn to equal ones.
    """
    y, sample_weights, total = checked
    logits = _left_out_logits(networks)
    own = np.take_along_axis(logits, y[None, :, None], axis=2)[:, :, 0]
    shares, prior = sample_weights / sample_weights.sum(), WEIGHT_PRIOR / total
    equal = np.full(len(networks), 1 / len(networks))

    def evaluate(weights):
        mixed = np.tensordot(weights, logits, axes=1)
        expected = np.einsum("nmc,mc->nm", logits, softmax(mixed, axis=1))
        cost = log_loss(mixed, y, sample_weights) + prior * np.square(weights - equal).sum()
        return cost, (expected - own) @ shares + 2 * prior * (weights - equal)

    bounds = [(0, None)] * len(networks)
    return minimize(evaluate, equal, jac=True, bounds=bounds, method="L-BFGS-B").x


def left_out_outcome(
    networks: Sequence[Network], weights: np.ndarray, checked: Checked, uniform_share: float
) -> tuple[float, float]:
    """Return the accuracy and the log loss of the vote for samples that are left out."""
    mixed = np.tensordot(weights, _left_out_logits(networks), axes=1)
    is_right = mixed.argmax(axis=1) == checked.y
    found = softmax_probabilities(mixed, uniform_share)
    own = np.take_along_axis(found, checked.y[:, None], axis=1)[:, 0]
    accuracy, loss = (
        float(np.average(each, weights=checked.weights)) for each in (is_right, -np.log(own))
    )
    return accuracy, loss


def _left_out_logits(networks: Sequence[Network]) -> np.ndarray:
    """Return left-out scores times the temperature (networks × samples × classes)."""
    tried = [network.chosen for network in networks]
    return np.stack([each.temperature * each.scores for each in tried])


def settings_table(networks: Sequence[Network], weights: np.ndarray) -> dict[str, list[Any]]:
    """Return what was chosen for each network, as columns of a table."""
    return {
        "kind": [network.kind for network in networks],
        "n_units": [len(network.units.kinds) for network in networks],
        **_outcomes([network.chosen for network in networks]),
        "weight": weights.tolist(),
        "seconds": [network.seconds for network in networks],
    }


def search_table(networks: Sequence[Network]) -> dict[str, list[Any]]:
    """Return what was tried for each network, as columns of a table."""
    rows = [(i, network, tried) for i, network in enumerate(networks) for tried in network.tried]
    return {
        "network": [i for i, _, _ in rows],
        "kind": [network.kind for _, network, _ in rows],
        **_outcomes([tried for _, _, tried in rows]),
        "is_chosen": [tried is network.chosen for _, network, tried in rows],
    }


def _outcomes(tried: Sequence[Tried]) -> dict[str, list[float]]:
    return {
        "alpha": [float(each.alpha) for each in tried],
        "temperature": [float(each.temperature) for each in tried],
        "left_out_accuracy": [float(1 - each.error) for each in tried],
        "left_out_log_loss": [float(each.log_loss) for each in tried],
    }
