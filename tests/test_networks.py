import re

import numpy as np
import pytest

from hyperlvq.kernels.leave_one_out import WeightedSamples
from hyperlvq.networks import (
    Trainer,
    left_out_outcome,
    relevances_of,
    search_table,
    settings_table,
    vote_weights,
)


def trainer_of(X, y, n_units=200):
    samples = WeightedSamples(X, y, np.ones(len(y)), np.ones(len(y)), int(y.max()) + 1)
    return Trainer(samples, n_units, np.random.RandomState(0), verbose=0)


@pytest.fixture(scope="module")
def trained():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    trainer = trainer_of(X, y)
    return trainer, trainer.train(4, None)


@pytest.mark.parametrize(
    ("n_samples", "n_units"), [(910, 4000), (911, 8000), (4000, 8000), (4001, 4000)]
)
def test_number_of_units_follows_the_number_of_samples(n_samples, n_units):
    X = np.arange(n_samples, dtype=float)[:, None]

    assert trainer_of(X, np.arange(n_samples) % 2, "auto").n_units == n_units


def test_networks_differ_in_kind_and_the_first_one_is_alone_a_conjunction(trained):
    trainer, networks = trained
    kinds = [network.kind for network in networks]

    assert kinds == ["conjunction", "majority", "parity", "conjunction"]
    assert [network.kind for network in trainer.train(1, None)] == ["conjunction"]


def test_features_that_matter_are_relevant_and_read_more_often(trained):
    trainer, networks = trained
    relevances = trainer.relevances

    assert relevances.sum() == pytest.approx(1)
    assert relevances[:2].min() > 2 * relevances[2:].max()
    read = np.bincount(networks[-1].units.features, minlength=5)
    assert read[:2].min() > read[2:].max()


def test_few_samples_tell_a_network_alone_which_features_are_relevant(monkeypatch):
    monkeypatch.setattr("hyperlvq.networks.CHECKED_ROWS", 100)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    trainer = trainer_of(X, (X[:, 0] * X[:, 1] > 0).astype(int))
    seen, train_one = [], Trainer._train_one

    def note_and_train(self, *arguments):
        seen.append(len(self.samples.y))
        return train_one(self, *arguments)

    monkeypatch.setattr(Trainer, "_train_one", note_and_train)
    trainer.train(1, None)

    assert seen == [100, 1500]
    assert trainer.relevances[:2].min() > 2 * trainer.relevances[2:].max()


def test_relevances_of_labels_without_any_are_not_all_in_one_feature():
    rng = np.random.default_rng(0)
    trainer = trainer_of(rng.normal(size=(100, 4)), np.arange(100) % 2)
    (network,) = trainer.train(1, None)

    assert relevances_of(network, trainer.samples, np.random.RandomState(0)).max() < 0.6


def test_no_network_is_begun_after_the_time_limit_but_one_always_is(trained):
    trainer, _ = trained

    assert len(trainer.train(5, time_limit=1e-9)) == 1
    assert len(trainer.train(2, time_limit=600)) == 2


def test_outcome_of_one_network_is_that_of_its_settings(trained):
    trainer, networks = trained
    for network in networks:
        accuracy, loss = left_out_outcome([network], np.ones(1), trainer.checked, 0.0)

        assert accuracy == pytest.approx(1 - network.chosen.error)
        assert loss == pytest.approx(network.chosen.log_loss)


def test_outcome_of_the_vote_is_better_and_a_uniform_share_is_part_of_it(trained):
    trainer, networks = trained
    checked = trainer.checked
    weights = vote_weights(networks, checked)
    accuracy, loss = left_out_outcome(networks, weights, checked, 0.0)

    assert weights.min() >= 0
    assert accuracy >= max(1 - network.chosen.error for network in networks) - 0.02
    assert loss < min(network.chosen.log_loss for network in networks)
    assert left_out_outcome(networks, np.ones(4), checked, 1.0)[1] == pytest.approx(np.log(2))


def test_tables_have_what_was_tried_and_what_was_chosen(trained):
    _, networks = trained
    weights = np.full(4, 0.25)
    settings, search = settings_table(networks, weights), search_table(networks)

    assert {len(column) for column in settings.values()} == {4}
    assert {len(column) for column in search.values()} == {4 * 11}
    assert np.array(search["alpha"])[search["is_chosen"]].tolist() == settings["alpha"]


@pytest.fixture
def lines_of(capsys):
    """Return a function that returns the lines that a verbose training prints."""
    rng = np.random.default_rng(0)

    def train(n_networks, time_limit=None):
        trainer = trainer_of(rng.normal(size=(30, 2)), np.arange(30) % 2, 50)
        trainer.verbose = 1
        trainer.train(n_networks, time_limit)
        return capsys.readouterr().out.splitlines()

    return train


def test_progress_tells_what_each_network_is_worth_and_how_long_the_rest_takes(lines_of):
    first, second = lines_of(2)

    assert first.startswith("network 1 of 2: 50 conjunction units, alpha ")
    assert re.search(r"leave-one-out accuracy 0\.\d{3}, .* s elapsed, about \d+\.\d s left$", first)
    assert second.startswith("network 2 of 2: 50 majority units, alpha ")
    assert second.endswith(" s elapsed")


def test_progress_names_what_is_trained_besides_and_what_there_is_no_time_for(lines_of):
    scout, only = lines_of(1)

    assert scout.startswith("feature relevances: 50 conjunction units")
    assert only.startswith("network 1 of 1")
    assert lines_of(3, time_limit=1e-9)[1] == "stopped because of time_limit=1e-09 s"
