import pytest

from hyperlvq.checks import InputError
from hyperlvq.study.collection import manifest
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.settings import (
    Settings,
    read_settings,
    searched_settings,
    write_settings,
)

GOOD = "dataset,split,knn_k,rls_features_lmb,note\niris,,3,0.5,x\niris,2,7,1,\nwine,,,2,\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "best.csv"


def parameters(settings, model, dataset, split=0, as_published=False):
    choice = settings.choose(MODELS[model], dataset, split, as_published)
    return choice and choice.parameters


def read(path, text):
    path.write_text(text, encoding="utf-8")
    return read_settings(path)


def test_settings_have_the_name_of_their_file_and_known_columns_where_they_are_used(path):
    settings = read(path, GOOD)

    assert settings.name == "best"
    assert settings.columns == {"knn_k", "rls_features_lmb"}
    assert settings.choose(MODELS["ridge"], "iris", 0) == (MODELS["ridge"].defaults, "defaults")
    assert settings.choose(MODELS["knn"], "iris", 0).origin == "best"


@pytest.mark.parametrize(
    ("model", "dataset", "split", "expected"),
    [
        ("knn", "iris", 0, {"n_neighbors": 3}),
        ("knn", "iris", 2, {"n_neighbors": 7}),  # the row of a split wins over that of its set
        ("knn", "iris", 3, {"n_neighbors": 3}),
        ("knn", "wine", 0, None),  # an empty cell leaves the set out
        ("knn", "zoo", 0, {"n_neighbors": 5}),  # a set without a row has the defaults
        ("ridge", "iris", 0, {"alpha": 2.0}),  # and so has a model without columns
        ("rls_features", "wine", 3, {"alpha": 2}),
        ("rls_features", "iris", 0, {"alpha": 0.5}),
    ],
)
def test_parameters_are_those_of_the_row(path, model, dataset, split, expected):
    assert parameters(read(path, GOOD), model, dataset, split) == expected


def test_whole_numbers_are_integers_and_a_mark_and_blank_lines_do_no_harm(path):
    settings = read(path, "\ufeffdataset,knn_k,rls_features_lmb\n\niris,5.0,0.25\n\n")

    assert isinstance(parameters(settings, "knn", "iris")["n_neighbors"], int)
    assert parameters(settings, "rls_features", "iris") == {"alpha": 0.25}


PUBLISHED_START = {"prototypes_per_class": 1, "init_noise": 1}
PUBLISHED = "dataset,glvq_features_beta,rls_features_lmb,knn_k\niris,5,2,3\n"
TUNED = "dataset,tuning,glvq_features_beta,glvq_features_ppc,rls_features_lmb\niris,paper,5,4,2\n"


@pytest.mark.parametrize(
    ("text", "model", "as_published", "expected"),
    [
        (PUBLISHED, "knn", False, {"n_neighbors": 3}),
        (PUBLISHED, "knn", True, {"n_neighbors": 3}),
        (PUBLISHED, "rls_features", True, {"alpha": 2, "solver": "pinv"}),
        (PUBLISHED, "glvq_features", True, {"slope": 5, **PUBLISHED_START}),
        (TUNED, "rls_features", False, {"alpha": 2}),
        (TUNED, "rls_features", True, {"alpha": 2, "solver": "pinv"}),
        (TUNED, "glvq_features", False, {"slope": 5, "prototypes_per_class": 4}),
        (TUNED, "glvq_features", True, {"slope": 5, "prototypes_per_class": 4, "init_noise": 1}),
    ],
)
def test_models_are_trained_as_published_if_asked(path, text, model, as_published, expected):
    settings = read(path, text)
    settings.check([MODELS[model]], "paper", as_published)

    assert parameters(settings, model, "iris", as_published=as_published) == expected


@pytest.mark.parametrize(
    ("text", "model", "as_published", "refusal"),
    [
        (
            *(PUBLISHED, "rls_features", False),
            "settings best have no column 'tuning': add it if rls_features was tuned with "
            "hyperlvq, or use --as-published to train it as in the paper",
        ),
        (
            *(PUBLISHED, "glvq_features", False),
            "settings best lack the column 'glvq_features_ppc' of glvq_features, but have others; "
            "--as-published accepts such settings, like the paper's table",
        ),
        (
            "dataset,svm_c\na,4\n",
            "svm",
            True,
            "lack the column 'svm_gamma' of svm, but have others$",
        ),
        ("dataset\niris\n", "knn", True, "--as-published needs --settings"),
    ],
)
def test_settings_that_are_not_clear_are_refused(path, text, model, as_published, refusal):
    with pytest.raises(InputError, match=refusal):
        read(path, text).check([MODELS[model]], "paper", as_published)


def test_a_tuned_file_is_called_after_its_folder_and_says_how_it_was_tuned(tmp_path):
    (tmp_path / "tuning").mkdir()
    write_settings(tmp_path / "tuning" / "settings.csv", {("iris", 0): {"knn_k": 1}}, "strict")

    settings = read_settings(tmp_path / "tuning" / "settings.csv")
    assert (settings.name, settings.tuning) == ("tuning", "strict")


def test_only_one_word_in_all_rows_says_how_settings_were_tuned(path):
    settings = read(path, "dataset,tuning,knn_k\niris,strict,1\nwine,,1\n")

    assert settings.tuning == ""


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_without_a_file_or_a_row_there_are_copies_of_the_defaults(path, model):
    for settings in (Settings(), read(path, GOOD)):
        found = parameters(settings, model.name, "zoo", as_published=True)

        assert found == model.defaults
        assert found is not model.defaults


def test_searched_settings_are_of_public_sets_and_say_how_they_were_searched():
    settings = searched_settings()

    sets = {dataset for dataset, _ in settings.rows}
    assert sets == manifest().keys() - {"miniboone"}
    assert (settings.name, settings.tuning) == ("search", "paper")


def test_searched_settings_have_every_cell_and_are_values_of_the_grids():
    settings = searched_settings()
    models = [model for model in MODELS.values() if settings.columns & {*model.columns.values()}]

    settings.check(models, "paper")
    assert {model.name for model in models} > {"rls_features", "rvfl_glvq", "intrvfl_glvq"}
    for row in settings.rows.values():
        assert None not in row.values()
        for model in models:
            assert all(row[model.columns[name]] in grid for name, grid in model.grid.items())


@pytest.mark.parametrize("splits", [[None], [0, 3], [None, 0, 3]])
def test_what_is_written_is_read_back(path, splits):
    row = {"knn_k": 3, "svm_c": 2.0**-5, "svm_gamma": 1 / 3}
    rows = {(name, split): row for name in ("a,b", "wine") for split in splits}
    write_settings(path, rows, "paper")
    first = path.read_bytes()
    write_settings(path, dict(reversed(rows.items())), "paper")

    assert path.read_bytes() == first
    assert read_settings(path).rows == rows


def test_what_was_not_found_is_written_as_empty(path):
    write_settings(path, {("iris", None): {"knn_k": None}, ("wine", None): {"svm_c": 4}}, "paper")

    nothing = {"knn_k": None, "svm_c": None}
    rows = read_settings(path).rows
    assert rows == {("iris", None): nothing, ("wine", None): nothing | {"svm_c": 4}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "best.csv, line 1: no column 'dataset'"),
        ("name,knn_k\niris,3\n", "best.csv, line 1: no column 'dataset'"),
        ("dataset,knn_k,knn_k\n", "best.csv, line 1: column 'knn_k' occurs twice"),
        ("dataset,knn_k\niris\n", "best.csv, line 2: expected 2 cells, as in the header, got 1"),
        (
            "dataset,knn_k\niris,1\n\nwine,1,2\n",
            "best.csv, line 4: expected 2 cells, as in the header, got 3",
        ),
        ("dataset,knn_k\niris,few\n", "line 2, column knn_k: 'few' is not a finite number"),
        ("dataset,knn_k\niris,inf\n", "line 2, column knn_k: 'inf' is not a finite number"),
        ("dataset,knn_k\niris,nan\n", "line 2, column knn_k: 'nan' is not a finite number"),
        ("dataset,knn_k\niris,1e999\n", "line 2, column knn_k: '1e999' is not a finite number"),
        ("dataset,split\niris,first\n", "line 2, column split: 'first' is not a finite number"),
        ("dataset,split\niris,-1\n", "line 2, column split: '-1' is not a split number"),
        ("dataset,split\niris,0.5\n", "line 2, column split: '0.5' is not a split number"),
        ("dataset\niris\nwine\niris\n", "best.csv, line 4: 'iris' occurs twice"),
        ("dataset,split\na,1\na,\na,1\n", "line 4: 'a', split 1, occurs twice"),
        (
            "dataset\n" + "x" * 200_000 + "\n",
            "best.csv, line 2: invalid CSV: field larger",
        ),
    ],
)
def test_wrong_file_is_refused_with_its_line(path, text, message):
    with pytest.raises(InputError, match=message):
        read(path, text)


def test_what_cannot_be_read_is_refused(tmp_path, path):
    path.write_bytes(b"\x89PNG\xff\xfe\x00")

    with pytest.raises(InputError, match=r"best\.csv is not a CSV file in UTF-8$"):
        read_settings(path)
    with pytest.raises(InputError, match=f"{tmp_path} cannot be read: Is a directory"):
        read_settings(tmp_path)
    with pytest.raises(InputError, match=r"none\.csv cannot be read: No such file or directory"):
        read_settings(tmp_path / "none.csv")
