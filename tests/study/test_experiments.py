import csv
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from hyperlvq.study import experiments
from hyperlvq.study.experiments import MODEL_PAIRS, MODELS
from hyperlvq.study.protocol import PROTOCOLS, build
from hyperlvq.study.tuning import GRIDS

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
tuned_models = [model for model in MODELS.values() if model.grid]
every_tuned_model = pytest.mark.parametrize("model", tuned_models, ids=lambda model: model.name)


def has_value(pipeline_parameters, name, value):
    steps = ("hidden", "readout", "readout__estimator__hidden", "readout__estimator__readout")
    return any(pipeline_parameters.get(f"{step}__{name}") == value for step in steps)


def test_models_have_names_and_titles_of_their_own():
    assert len({model.title for model in MODELS.values()}) == len(MODELS)
    assert len(experiments._MODELS) == len(MODELS)


def test_settings_are_those_that_the_records_were_made_with():
    """Whoever changes a line makes all studies again; a new model is a new line."""
    lines = Path(__file__).with_name("experiments.jsonl").read_text().splitlines()
    everything = [*MODELS.values(), *MODEL_PAIRS]

    found = [json.loads(json.dumps(asdict(each))) for each in everything]
    used = [{name: value for name, value in each.items() if value} for each in found]
    assert used == [json.loads(line) for line in lines]


@every_model
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_model_can_be_built_with_all_its_parameters(model, protocol):
    grids = [*model.grid.items(), *model.quick_grid.items()]
    tried = [{name: value} for name, values in grids for value in values]
    for changes in (model.fixed, model.as_published, *model.limits.values(), *tried):
        parameters = {**model.defaults, **changes}
        pipeline = build(model, parameters, seed=0, protocol=protocol)

        for name, value in {**model.fixed, **parameters}.items():
            assert has_value(pipeline.get_params(), name, value)


@every_model
def test_every_parameter_with_a_column_has_a_default(model):
    assert model.limits.keys() <= {*GRIDS}
    assert model.columns.keys() == model.defaults.keys()


@every_tuned_model
def test_tuning_finds_a_value_for_every_column(model):
    assert model.grid.keys() | model.reuse.keys() == model.columns.keys()
    assert model.quick_grid.keys() == model.columns.keys()
    assert not model.grid.keys() & model.reuse.keys()


PUBLISHED_VALUES = {
    "alpha": tuple(2.0**exponent for exponent in range(-10, 6)),
    "n_units": tuple(range(50, 1501, 50)),
    "clip": (1, 3, 7, 15),
    "slope": tuple(range(1, 16)),
    "prototypes_per_class": (1, 2, 3, 4, 5),
    "gamma": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1),
}
SEARCHED_IN_THE_PAPER = {
    "rls_features": ["alpha"],
    "glvq_features": ["slope"],
    "rvfl_rls": ["n_units", "alpha"],
    "rvfl_glvq": ["slope"],
    "intrvfl_rls": ["n_units", "clip", "alpha"],
    "intrvfl_glvq_p1": ["slope"],
    "intrvfl_glvq": ["slope", "prototypes_per_class"],
    "kglvq": ["prototypes_per_class", "slope", "gamma"],
}


def test_the_papers_search_tries_its_values_of_what_it_searched_alone():
    grids = {name: model.published_grid for name, model in MODELS.items() if model.published_grid}

    assert {name: sorted(grid) for name, grid in grids.items()} == {
        name: sorted(searched) for name, searched in SEARCHED_IN_THE_PAPER.items()
    }
    for grid in grids.values():
        assert grid == {name: PUBLISHED_VALUES[name] for name in grid}


@pytest.mark.data
def test_published_settings_lie_on_the_papers_grid(uci_path):
    with open(uci_path.with_name("paper_results.csv"), newline="") as table:
        rows = list(csv.DictReader(table))

    for model in MODELS.values():
        for name, values in model.published_grid.items():
            published = {row[model.columns[name]] for row in rows} - {""}
            assert {*map(float, published)} <= {*values}


@every_model
def test_values_reused_are_tuned_by_another_model(model):
    for name, column in model.reuse.items():
        owners = [other for other in tuned_models if other.columns.get(name) == column]

        assert [name in other.grid for other in owners] == [True]
        assert owners != [model]


def test_no_two_models_tune_the_same_column():
    columns = [column for model in tuned_models for column in model.columns.values()]

    assert len(set(columns)) == len(columns)


def test_comparisons_are_of_two_known_models():
    for comparison in MODEL_PAIRS:
        assert {comparison.x, comparison.y} <= MODELS.keys()


@pytest.mark.data
def test_papers_table_has_every_column_of_its_models_but_those_it_says_in_its_text(uci_path):
    with open(uci_path.with_name("paper_results.csv"), newline="") as table:
        header = next(csv.reader(table))

    for model in (model for model in MODELS.values() if model.accuracy_column is not None):
        for name, column in model.columns.items():
            assert column in header or name in model.as_published
        assert model.accuracy_column in header


def test_defaults_are_those_that_the_documentation_gives_the_accuracies_of():
    text = (Path(__file__).parents[2] / "docs" / "decisions" / "0008-study.md").read_text()
    table = text.partition("| model | setting | mean accuracy |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    documented = {title: settings for title, settings, _ in rows}
    titles = {"intrvfl_glvq": "intRVFL + GLVQ", "ridge": "ridge"}

    names = [name for name in MODELS if titles.get(name, MODELS[name].title) in documented]
    assert len(names) == len(documented) == 10
    for name in names:
        settings = documented[titles.get(name, MODELS[name].title)].split(", ")
        defaults = {key: f"{value:g}" for key, value in MODELS[name].defaults.items()}
        assert dict(setting.split("=") for setting in settings) == defaults
