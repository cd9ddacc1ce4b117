from dataclasses import replace

import numpy as np
import pytest
from tiny_study import GRIDS, Source, make_grids_small, make_set, without_times

from hyperlvq import make_classifier
from hyperlvq.checks import InputError
from hyperlvq.study import protocol as protocols
from hyperlvq.study import tuning
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.protocol import TrainTest, build, estimated_seconds, scale_file
from hyperlvq.study.records import open_records, read_records
from hyperlvq.study.runner import run_study
from hyperlvq.study.settings import TUNED_FILE, read_settings
from hyperlvq.study.tuning import (
    TUNING_NAME,
    GridSearch,
    best_single_settings,
    score,
    settings_of_grid,
    tune_study,
)


@pytest.fixture(autouse=True)
def small_grids(monkeypatch):
    make_grids_small(monkeypatch)


@pytest.fixture
def source():
    return Source(make_set("plain"), make_set("other"))


def tune(source, folder, *models, **options):
    """Return the records of what a folder lacks."""
    steps = tune_study(source, folder, models=models, **{"n_seeds": 2, **options})
    return [step.record for step in steps]


def search_of(name, data_set, split=None, protocol="paper"):
    return GridSearch(data_set, MODELS[name], protocol, "full", {}, split, 2)


def test_settings_of_a_grid_change_the_last_parameter_fastest():
    settings = settings_of_grid({"a": (1, 2), "b": (3, 4)})

    assert settings == [{"a": 1, "b": 3}, {"a": 1, "b": 4}, {"a": 2, "b": 3}, {"a": 2, "b": 4}]


@pytest.mark.parametrize("protocol", ["paper", "strict"])
@pytest.mark.parametrize("name", ["rls_features", "intrvfl_rls"])
def test_penalties_score_as_models_fitted_one_by_one(wine, monkeypatch, protocol, name):
    X, y = wine
    samples = TrainTest(X[::2], y[::2] + 5, X[1::2], y[1::2] + 5)
    grid = {"alpha": (1e-3, 1.0, 1e3)}  # changing slowest, so that layers come again and again
    grid |= {key: values for key, values in GRIDS[name].items() if key != "alpha"}
    monkeypatch.setitem(MODELS, name, replace(MODELS[name], grid=grid))
    search = search_of(name, make_set(), protocol=protocol)
    scores = score(search, samples, 4, search.candidates())

    for candidate, found in zip(search.candidates(), scores, strict=True):
        seeds = {} if name == "rls_features" else {"random_state": 4}
        model = make_classifier(*MODELS[name].recipe, **candidate, **seeds)
        model.set_params(**({"scale": "passthrough"} if protocol == "paper" else {}))
        model.fit(samples.X_train, samples.y_train)
        assert found == model.score(samples.X_test, samples.y_test)


def test_paper_trains_on_one_half_of_the_scaled_file_and_scores_on_the_other():
    data_set = make_set()
    record = search_of("glvq_features", data_set).record()

    X, y, (train, test) = scale_file(data_set.X), data_set.y, data_set.tuning
    rest = {**MODELS["glvq_features"].fixed, "prototypes_per_class": 1}
    by_hand = [
        np.mean(
            [
                make_classifier("features", "glvq", slope=slope, **rest, random_state=seed)
                .set_params(scale="passthrough")
                .fit(X[train], y[train])
                .score(X[test], y[test])
                for seed in (0, 1)
            ]
        )
        for slope in (2, 5)
    ]
    assert record["scores"] == pytest.approx(by_hand, abs=1e-6)
    assert record["accuracy"] == max(by_hand)
    assert record["slope"] == (2, 5)[int(np.argmax(by_hand))]


@pytest.mark.parametrize("name", ["knn", "rls_features", "intrvfl_rls", "glvq_features"])
def test_strict_looks_at_the_training_rows_of_its_split_alone(name):
    data_set = make_set()
    X, y = data_set.X.copy(), data_set.y.copy()
    X[data_set.splits[2].test] = np.nan
    y[data_set.splits[2].test] = 1 - y[data_set.splits[2].test]
    poisoned = replace(data_set, X=X, y=y)

    clean, blind = (
        search_of(name, candidate, 2, "strict").record() for candidate in (data_set, poisoned)
    )
    assert clean == blind


def test_of_many_rows_a_part_is_searched_and_the_best_settings_meet_again_on_more(monkeypatch):
    model = replace(MODELS["knn"], grid={"n_neighbors": (1, 3, 5, 7)}, tuning_rows=12)
    seen = []

    def made_up_score(search, samples, seed, candidates):
        sizes = len(samples.X_train), len(samples.X_test)
        seen.append((*sizes, [candidate["n_neighbors"] for candidate in candidates]))
        return np.array([0.9, 0.7, 0.8, 0.6] if len(candidates) == 4 else [0.1, 0.3, 0.2])

    monkeypatch.setattr(tuning, "score", made_up_score)
    searches = [
        GridSearch(make_set(n_samples=n_samples), model, "strict", "full", {}, 0, 1)
        for n_samples in (16, 80)
    ]
    few, many = (search.record() for search in searches)

    assert seen == [(8, 4, [1, 3, 5, 7])] * 6 + [(32, 16, [1, 5, 3])]
    assert (few["n_neighbors"], few["accuracy"]) == (1, pytest.approx(0.9))
    assert (many["n_neighbors"], many["accuracy"]) == (5, 0.3)
    assert many["tuning_rows"] == 12
    assert (
        searches[1].seconds()
        < replace(searches[1], model=replace(model, tuning_rows=None)).seconds()
    )


@pytest.mark.parametrize(("split", "protocol"), [(None, "paper"), (1, "strict")])
def test_setting_that_cannot_be_trained_is_left_out(split, protocol):
    record = search_of("knn", make_set(), split, protocol).record()

    assert record["scores"][1] is None
    assert record["n_neighbors"] in (1, 3)
    assert record["error"] is None


def test_search_without_a_setting_that_can_be_trained_fails(tmp_path, source, monkeypatch):
    values = {"n_neighbors": (1000, 2000)}
    monkeypatch.setitem(MODELS, "knn", replace(MODELS["knn"], grid=values))
    records = tune(source, tmp_path, "knn", "rls_features")

    errors = {record["error"] for record in records if record["model"] == "knn"}
    assert errors == {"no setting of knn can be trained"}
    settings = read_settings(tmp_path / TUNED_FILE)
    assert settings.choose(MODELS["knn"], "plain", 0) is None
    assert settings.choose(MODELS["rls_features"], "plain", 0) is not None


def test_layer_is_tuned_with_rls_and_reused_for_glvq(tmp_path, source):
    records = tune(source, tmp_path, "intrvfl_glvq_p1", "intrvfl_rls")

    layers = {(r["dataset"], r["model"]): (r["n_units"], r["clip"]) for r in records}
    assert [record["model"] for record in records] == ["intrvfl_rls"] * 2 + ["intrvfl_glvq_p1"] * 2
    for name in ("plain", "other"):
        assert layers[name, "intrvfl_rls"] == layers[name, "intrvfl_glvq_p1"]
    assert len(records[-1]["scores"]) == 2


def test_model_reuses_what_another_or_an_earlier_run_has_found(tmp_path, source):
    with pytest.raises(
        InputError, match="intrvfl_glvq_p1 reuses intrvfl_rls_n: also tune the model"
    ):
        tune(source, tmp_path, "intrvfl_glvq_p1")
    tune(source, tmp_path, "intrvfl_rls")
    records = tune(source, tmp_path, "intrvfl_glvq_p1")

    assert [record["error"] for record in records] == [None, None]


def test_set_whose_layer_could_not_be_tuned_is_left_out_of_those_that_reuse_it(tmp_path, source):
    other = source.load("other")
    one_sample = replace(other, tuning=other.tuning._replace(train=np.array([0])))
    source = Source(source.load("plain"), one_sample)
    records = tune(source, tmp_path, "intrvfl_rls", "intrvfl_glvq_p1")

    outcomes = {(r["model"], r["dataset"]): r["error"] is None for r in records}
    tuned, reusing = "intrvfl_rls", "intrvfl_glvq_p1"
    assert outcomes == {(tuned, "plain"): True, (tuned, "other"): False, (reusing, "plain"): True}


@pytest.mark.parametrize(("grid", "max_iter"), [("full", 300), ("quick", 50)])
def test_limits_hold_for_every_setting_and_stand_in_the_record(monkeypatch, grid, max_iter):
    model = replace(
        MODELS["intrvfl_glvq"],
        grid={"slope": (3,), "prototypes_per_class": (1, 2)},
        quick_grid={"n_units": (9,), "clip": (1,), "slope": (3,), "prototypes_per_class": (1, 2)},
    )
    built = []
    monkeypatch.setattr(protocols, "build", lambda *args: built.append(args[1]) or build(*args))
    reused = {"n_units": 9, "clip": 1} if grid == "full" else {}
    record = GridSearch(make_set(), model, "paper", grid, reused, None, 2).record()

    assert [parameters["max_iter"] for parameters in built] == [max_iter] * 4
    assert record["max_iter"] == max_iter


@pytest.mark.parametrize(
    ("name", "split", "n_trainings"),
    [
        ("knn", None, 3),
        ("knn", 1, 3 * 3),
        ("glvq_features", None, 2 * 2),
        ("intrvfl_rls", None, 2 * 4),  # one for all penalties
    ],
)
def test_a_search_takes_as_long_as_its_trainings_on_half_the_samples(name, split, n_trainings):
    search = search_of(name, make_set(n_samples=41, n_classes=3), split)

    each = [estimated_seconds(search.model, setting, 20, 3, 3) for setting in search.candidates()]
    assert search.seconds() == pytest.approx(n_trainings * np.mean(each))
    limited = replace(search.model, limits={"full": {"max_iter": 10}})
    is_shorter = replace(search, model=limited).seconds() < search.seconds()
    assert is_shorter == (name == "glvq_features")


def test_quick_grid_reuses_nothing(tmp_path, source):
    records = tune(source, tmp_path, "intrvfl_glvq_p1", grid="quick")

    assert {record["n_units"] for record in records} == {1000}


@pytest.mark.parametrize("name", ["rls_features", "intrvfl_rls"])
def test_search_as_published_scores_as_pseudo_inverses_of_single_precision(name):
    data_set = make_set()
    search = GridSearch(data_set, MODELS[name], "paper", "published", {}, None, 2)
    record = search.record()

    samples, seeds = next(search.trials())
    by_hand = [
        np.mean(
            [
                build(MODELS[name], {**candidate, "solver": "pinv"}, seed, "paper")
                .fit(samples.X_train, samples.y_train)
                .score(samples.X_test, samples.y_test)
                for seed in seeds
            ]
        )
        for candidate in search.candidates()
    ]
    assert record["solver"] == "pinv"
    assert record["scores"] == pytest.approx(by_hand, abs=1e-6)


def test_search_as_published_starts_glvq_at_one_prototype_with_the_papers_noise(monkeypatch):
    built = []
    monkeypatch.setattr(protocols, "build", lambda *args: built.append(args[1]) or build(*args))
    record = GridSearch(
        make_set(), MODELS["glvq_features"], "paper", "published", {}, None, 2
    ).record()

    given = {"prototypes_per_class": 1, "init_noise": 1.0}
    assert built == [{**given, "slope": slope} for _ in range(2) for slope in (2, 5)]
    assert {name: record[name] for name in given} == given
    assert "max_iter" not in record  # that of the recipe, 2500


def test_search_as_published_tries_penalties_one_by_one():
    model = MODELS["intrvfl_rls"]
    exact, published = (
        GridSearch(make_set(), model, "paper", grid, {}, None, 2) for grid in ("full", "published")
    )
    assert published.seconds() > exact.seconds()


def test_settings_found_as_published_go_on_and_run_as_published_alone(tmp_path, source):
    models = ["intrvfl_rls", "intrvfl_glvq_p1"]
    assert len(tune(source, tmp_path, *models, grid="published")) == 4
    assert tune(source, tmp_path, *models, grid="published") == []
    settings = read_settings(tmp_path / TUNED_FILE)

    layers = [(r["n_units"], r["clip"]) for r in read_records(tmp_path, TUNING_NAME)]
    assert layers[:2] == layers[2:]
    settings.check([MODELS["intrvfl_rls"]], "paper", as_published=True)
    with pytest.raises(InputError, match="were tuned as published: give --as-published to train"):
        settings.check([MODELS["intrvfl_rls"]], "paper")
    with pytest.raises(InputError, match="must say strict"):
        settings.check([MODELS["intrvfl_rls"]], "strict", as_published=True)


@pytest.mark.parametrize("first", ["full", "published"])
def test_search_as_published_shares_no_folder_with_others(tmp_path, source, first):
    second = {"full": "published", "published": "full"}[first]
    tune(source, tmp_path, "rls_features", grid=first)

    with pytest.raises(InputError, match=f"a search of grid '{first}', not '{second}'"):
        tune(source, tmp_path, "glvq_features", grid=second)


def test_tuning_goes_on_where_it_was_left(tmp_path, source):
    models = ["intrvfl_rls", "intrvfl_glvq_p1", "knn"]
    tune(source, tmp_path / "whole", *models)
    interrupted = tune_study(source, tmp_path / "parts", models=models, n_seeds=2)
    for _ in range(3):
        next(interrupted)
    interrupted.close()
    assert not (tmp_path / "parts" / TUNED_FILE).exists()
    assert len(tune(source, tmp_path / "parts", *models)) == 3

    folders = [tmp_path / name for name in ("whole", "parts")]
    whole, parts = (without_times(read_records(folder, TUNING_NAME)) for folder in folders)
    assert whole == parts
    whole, parts = ((folder / TUNED_FILE).read_text() for folder in folders)
    assert whole == parts
    assert tune(source, tmp_path / "parts", *models) == []


@pytest.mark.parametrize("protocol", ["paper", "strict"])
def test_settings_found_are_those_a_study_runs_with(tmp_path, source, protocol):
    records = tune(source, tmp_path, "intrvfl_rls", "knn", protocol=protocol)
    settings = read_settings(tmp_path / TUNED_FILE)
    names = ["intrvfl_rls", "knn", "intrvfl_centroids"]
    steps = list(run_study(source, tmp_path, models=names, settings=settings, protocol=protocol))

    found = {(r["model"], r["dataset"], r["split"]): r for r in records}
    splits = [None] if protocol == "paper" else [0, 1, 2, 3]
    assert {split for *_, split in found} == {*splits}
    assert len(found) == 2 * 2 * len(splits)
    assert len(steps) == 2 * 4 * (5 + 1 + 5)
    for run in (step.record for step in steps):
        owner = "knn" if run["model"] == "knn" else "intrvfl_rls"
        best = found[owner, run["dataset"], None if protocol == "paper" else run["split"]]
        for name in MODELS[run["model"]].columns:
            assert run[name] == best[name]


def test_set_that_cannot_be_read_is_one_record_and_the_others_go_on(tmp_path, source):
    broken = Source(source.load("plain"), broken=["lost"])
    errors = {record["dataset"]: record["error"] for record in tune(broken, tmp_path, "knn")}

    assert errors == {"lost": "lost_R.dat is missing", "plain": None}
    assert read_settings(tmp_path / TUNED_FILE).rows.keys() == {("plain", None)}
    assert tune(broken, tmp_path, "knn") == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": "quick"}, "grid = 'full', not 'quick': use another folder"),
        ({"protocol": "strict"}, "records of the protocol 'paper', not 'strict': use another"),
        ({"n_seeds": 3}, "n_trials = 2, not 3: use another folder"),
    ],
)
def test_other_search_needs_another_folder(tmp_path, source, options, message):
    tune(source, tmp_path, "knn", "glvq_features")

    assert tune(source, tmp_path, "knn", n_seeds=3) == []  # which is not random
    with pytest.raises(InputError, match=message):
        tune(source, tmp_path, "glvq_features", **options)


def test_a_fold_that_cannot_be_trained_leaves_the_others_their_say_and_the_first_of_equals_wins():
    trials = [np.array([0.5, np.nan, 0.5]), np.array([np.nan, 0.3, 0.5])]
    record = search_of("knn", make_set()).record_of_best(trials)

    assert record["scores"] == [0.5, 0.3, 0.5]
    assert record["n_neighbors"] == 3


def test_the_first_of_equals_wins_whatever_the_order_of_seeds():
    a, b, c = 0.1, 0.2, 0.3
    assert a + b + c > c + b + a  # by rounding
    record = search_of("knn", make_set()).record_of_best([(c, a, 0), (b, b, 0), (a, c, 0)])

    assert record["n_neighbors"] == 3


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        (["forest"], {}, "no model with a grid is called 'forest'; choose from rls_f.*ridge$"),
        (["knn"], {"grid": "slow"}, "grid must be one of 'full', .*'published', got 'slow'"),
        (["knn"], {"protocol": "lax"}, "protocol must be one of 'paper', 'strict', got 'lax'"),
        (["knn"], {"n_seeds": 0}, "n_seeds must be at least 1, got 0"),
        (
            ["knn"],
            {"grid": "published"},
            "no model with a grid is called 'knn'; choose from .*kglvq$",
        ),
        (
            ["rls_features"],
            {"grid": "published", "protocol": "strict"},
            "the search as published has the protocol 'paper', got 'strict'",
        ),
    ],
)
def test_wrong_option_is_refused(tmp_path, source, models, options, message):
    with pytest.raises(ValueError, match=message):
        tune(source, tmp_path, *models, **options)


def made_up(model, scores, **changes):
    """Return the record of a search with these accuracies."""
    key = {"protocol": "paper", "model": model, "dataset": "a", "split": None, "seed": None}
    best = dict.fromkeys(MODELS[model].columns, 1)
    values = {name: list(values) for name, values in GRIDS[model].items()}
    grid = {"grid": "full", "values": values}
    return {**key, **best, **grid, "scores": scores, "error": None, **changes}


def test_single_setting_is_the_best_on_average():
    records = [
        made_up("glvq_features", [0.9, 0.5]),
        made_up("glvq_features", [0.2, 0.7], dataset="b"),
        made_up("rls_features", [0.4, 0.4]),
        # A setting that cannot be trained somewhere has nothing right there.
        made_up("knn", [0.6, None, 0.5]),
        made_up("knn", [0.6, 1.0, None], dataset="b"),
    ]

    assert best_single_settings(records) == {
        "glvq_features": ({"slope": 5, "prototypes_per_class": 1}, pytest.approx(0.6), 2),
        "rls_features": ({"alpha": 0.5}, 0.4, 1),
        "knn": ({"n_neighbors": 3}, pytest.approx(0.6), 2),
    }


def test_failures_and_models_that_reuse_have_no_single_setting():
    failed = made_up("knn", None, error="no setting of knn can be trained")
    records = [failed, made_up("intrvfl_glvq_p1", [0.5, 0.6])]

    assert best_single_settings(records) == {}
    quick = made_up("intrvfl_glvq_p1", [0.5, 0.6], grid="quick")
    assert best_single_settings([quick])["intrvfl_glvq_p1"][0]["slope"] == 5


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "gvlq"},
        {"model": None},
        {"scores": None},
        {"scores": [0.5]},
        {"scores": [0.5, "a", None]},
        {"grid": "slow"},
        {"grid": []},
        {"values": {"n_neighbors": [3, 1000, 2]}},
        {"n_neighbors": None},
        {"model": "gvlq", "error": "no"},
    ],
)
def test_record_that_is_not_one_of_a_search_is_refused_by_its_line(tmp_path, source, changes):
    with open_records(tmp_path, TUNING_NAME) as file:
        file.append(made_up("knn", [0.5, None, 0.5]))
        file.append({**made_up("knn", [0.5, None, 0.5], dataset="b"), **changes})

    with pytest.raises(InputError, match=r"tuning\.jsonl, line 2: not a record of a search"):
        tune(source, tmp_path, "knn")
