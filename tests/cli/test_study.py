import json
import signal
import subprocess
import time

import pytest
from fuzzing import mutated
from hypothesis import given, settings
from hypothesis import strategies as st
from shell import PROGRAM, hyperlvq
from small_set import write_set

from hyperlvq.study import experiments
from hyperlvq.study.records import read_records
from hyperlvq.study.settings import read_settings
from hyperlvq.study.tuning import values_of_grid

MODELS = "rls_features,knn"
RECORD = {
    "protocol": "paper",
    "model": "knn",
    "dataset": "iris",
    "source": "built-in",
    "split": 0,
    "seed": 0,
    "n_neighbors": 5,
    "settings": "defaults",
    "accuracy": 0.9,
    "error": None,
}
SEARCH = {
    **RECORD,
    "split": None,
    "seed": None,
    "grid": "full",
    "n_trials": 1,
    "values": values_of_grid(experiments.MODELS["knn"], "full"),
    "scores": [0.5] * 9,
}
PUBLISHED = (
    "dataset,n_samples,n_train,protocol,n_classes,intrvfl_rls_n,rls_features_acc\n"
    "iris,150,113,kfold,3,500,0.9\n"
)


def run(folder, *arguments):
    return hyperlvq("study", "run", "-o", folder, "--jobs", 1, *arguments)


@pytest.fixture(scope="module")
def iris_study(tmp_path_factory):
    """Return the folder of a study of iris, and what the command said."""
    folder = tmp_path_factory.mktemp("study")
    return folder, run(folder, "--sets", "iris", "--models", f"{MODELS},glvq_features")


def test_study_of_iris_runs(iris_study):
    folder, (code, output, errors) = iris_study

    assert code == 0
    assert output == f"28 runs made; the records are in {folder}\n"
    assert errors.splitlines()[-1].endswith("/28 runs")
    records = read_records(folder)
    assert len(records) == 4 * (1 + 1 + 5)
    assert all(record["accuracy"] > 0.5 for record in records)  # a third by chance


def test_study_started_again_has_nothing_to_do(iris_study):
    folder, _ = iris_study
    code, output, errors = run(folder, "--sets", "iris", "--models", MODELS)

    assert (code, output, errors) == (0, f"0 runs made; the records are in {folder}\n", "")


def test_study_is_reported(iris_study, tmp_path):
    folder, _ = iris_study
    page = tmp_path / "iris.html"
    code, output, _ = hyperlvq("study", "report", folder, "-o", page)

    assert code == 0
    assert output.splitlines()[-1] == str(page)
    assert "k nearest neighbours" in page.read_text()


def test_built_in_data_are_not_put_beside_the_papers(iris_study, tmp_path):
    folder, _ = iris_study
    (tmp_path / "paper.csv").write_text(PUBLISHED)
    code, _, errors = hyperlvq(
        *("study", "report", folder, "-o", tmp_path / "iris.html"),
        *("--published", tmp_path / "paper.csv"),
    )

    assert code == 2
    assert "the paper's figures are of the collection, this study is of built-in data" in errors


def test_own_collection_is_studied_and_its_broken_sets_are_named(tmp_path):
    write_set(tmp_path)
    write_set(tmp_path, {"conxuntos.dat": b""}, "broken")
    code, output, errors = run(tmp_path / "out", "--data", tmp_path, "--models", "rls_features")

    assert code == 0
    assert output.startswith("4 runs made")
    assert errors.splitlines()[-1] == "1 failed: broken/broken_R.dat is missing"


def test_runs_that_failed_are_counted_by_their_reason(tmp_path):
    (tmp_path / "best.csv").write_text("dataset,intrvfl_rls_n,intrvfl_rls_kappa\nwine,0.5,3\n")
    arguments = ["--settings", tmp_path / "best.csv", "--models", "intrvfl_centroids,ridge"]
    code, _, errors = run(tmp_path, *arguments, "--sets", "wine", "--seeds", 1)

    assert code == 0
    assert errors.splitlines()[-1] == "4 failed: n_units must be an integer, got 0.5"


def test_settings_that_were_tuned_are_those_that_run(tmp_path):
    common = ("--sets", "iris", "--models", MODELS, "--protocol", "strict", "--jobs", 1)
    code, output, _ = hyperlvq("study", "tune", "-o", tmp_path, "--grid", "quick", *common)

    assert code == 0
    lines = output.splitlines()
    assert lines[0] == f"8 searches made; the settings are in {tmp_path / 'settings.csv'}"
    assert {line.split(":")[0].strip() for line in lines[2:]} == {*MODELS.split(",")}

    hyperlvq("study", "run", "-o", tmp_path, "--settings", tmp_path / "settings.csv", *common)
    rows = read_settings(tmp_path / "settings.csv").rows
    records = read_records(tmp_path)
    assert len(records) == 8
    for record in records:
        row = rows["iris", record["split"]]
        name, column = {
            "knn": ("n_neighbors", "knn_k"),
            "rls_features": ("alpha", "rls_features_lmb"),
        }[record["model"]]
        assert record[name] == row[column]


def test_costs_are_those_of_the_formulas(tmp_path):
    (tmp_path / "paper.csv").write_text(PUBLISHED)
    code, output, _ = hyperlvq("study", "costs", tmp_path / "paper.csv")

    assert code == 0
    # N = 500, T = 150, L = 3
    straightforward = 500 * (2 * 500**2 / 3 + 4 * 150 * 500 + 2 * 150 * 3 - 500 - 150 - 3 + 2)
    glvq = 10 * 150 * (3 * 3 * 500 + 6 * 500 + 19) + 150 * 500
    assert output.splitlines()[-1].split() == [
        *("GLVQ", f"{glvq:.4g}"),
        *([f"{glvq / straightforward:.4f}"] * 2),
    ]


def test_study_on_a_device_says_when_time_is_up_and_goes_on(tmp_path, monkeypatch):
    common = ("study", "run", "-o", tmp_path, "--sets", " iris ,", "--models", "rls_features,")
    on_device = ("--device", "cpu", "--minutes", 1)
    monkeypatch.setattr("hyperlvq.study.device.end_after", lambda minutes: -minutes)
    code, output, _ = hyperlvq(*common, *on_device)

    assert (code, output) == (0, "1 runs made; time is up, the same command goes on\n")
    monkeypatch.undo()
    assert hyperlvq(*common, *on_device)[1] == f"3 runs made; the records are in {tmp_path}\n"
    assert hyperlvq(*common, "--jobs", 1)[1] == f"0 runs made; the records are in {tmp_path}\n"


def test_tuning_whose_time_is_up_does_not_pass_older_settings_off_as_its_own(tmp_path, monkeypatch):
    common = ("study", "tune", "-o", tmp_path, "--device", "cpu", "--grid", "quick", "--seeds", 1)
    hyperlvq(*common, "--sets", "iris", "--models", "rls_features")
    assert (tmp_path / "settings.csv").exists()
    monkeypatch.setattr("hyperlvq.study.device.end_after", lambda minutes: -minutes)
    more = ("--sets", "iris,wine", "--models", "rls_features,glvq_features", "--minutes", 1)
    code, output, _ = hyperlvq(*common, *more)

    assert code == 0
    assert output.splitlines()[0] == "1 searches made; time is up, the same command goes on"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the settings best have no column 'tuning': give them one if rls_features was tuned"),
        (
            ["--as-published", "--device", "cpu"],
            "there is no model to run on a device as published",
        ),
    ],
)
def test_published_settings_need_to_be_asked_for_and_cores(tmp_path, arguments, message):
    (tmp_path / "best.csv").write_text("dataset,rls_features_lmb\niris,2\n")
    common = ("--settings", tmp_path / "best.csv", "--models", "rls_features")
    code, output, errors = hyperlvq("study", "run", "-o", tmp_path / "out", *common, *arguments)

    assert (code, output) == (2, "")
    assert errors.startswith(f"hyperlvq: {message}")
    assert not (tmp_path / "out").exists()


def test_published_settings_are_run_as_the_paper_does(tmp_path):
    (tmp_path / "paper.csv").write_text("dataset,rls_features_lmb\niris,2\n")
    common = ("--settings", tmp_path / "paper.csv", "--models", "rls_features", "--sets", "iris")
    code, output, _ = run(tmp_path, *common, "--as-published")

    assert (code, output.split(" made")[0]) == (0, "4 runs")
    assert {record["solver"] for record in read_records(tmp_path)} == {"pinv"}


@pytest.mark.parametrize("command", ["run", "tune"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--models", "gvlq"], "there is no model{} 'gvlq'; there are rls_features, "),
        (["--models", ""], "no model{} is named; there are rls_features, "),
        (["--sets", "trees"], "there is no data set 'trees'; there are iris, wine, "),
        (["--sets", ","], "no data set is named; there are iris, wine, "),
        (["--data", "nowhere.tar.xz"], "nowhere.tar.xz does not exist"),
        (["--device", "cpu", "--jobs", 2], "--device excludes --jobs and --dask: one process uses"),
        (["--minutes", 1], "--minutes goes with --device only"),
        (["--jobs", 2, "--dask", "host:1"], "--jobs and --dask exclude each other"),
        (["--device", "cpu", "--models", "knn"], "there is no model to {command} on a device 'k"),
        (["--protocol", "lax"], "invalid value for '--protocol'"),
        (["--seeds", "0"], "invalid value for '--seeds'"),
        (["--jobs", "0"], "invalid value for '--jobs'"),
        (["--output"], "option '--output' requires an argument"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, command, arguments, message):
    message = message.format(" with a grid" if command == "tune" else "", command=command)
    code, output, errors = hyperlvq("study", command, "-o", tmp_path / "out", *arguments)

    assert (code, output) == (2, "")
    assert errors.startswith(f"hyperlvq: {message}")
    assert errors.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_defaults_are_settings_by_name(tmp_path):
    arguments = ("--sets", "iris", "--models", "knn,ridge", "--settings", "defaults")
    code, output, _ = run(tmp_path, *arguments)

    assert (code, output.split(" made")[0]) == (0, "8 runs")
    assert {record["settings"] for record in read_records(tmp_path)} == {"defaults"}


@pytest.mark.parametrize(
    ("output", "settings", "message"),
    [
        ("out", "none.csv", "{folder}/none.csv cannot be read: No such file or directory"),
        ("out", "best.csv", "{folder}/best.csv, line 2, column knn_k: 'many' is no finite number"),
        ("best.csv", "defaults", "{folder}/best.csv is a file, not a folder"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, output, settings, message):
    (tmp_path / "best.csv").write_text("dataset,knn_k\niris,many\n")
    settings = settings if settings == "defaults" else tmp_path / settings
    common = ("--sets", "iris", "--models", "knn")
    code, _, errors = run(tmp_path / output, *common, "--settings", settings)

    assert (code, errors) == (2, f"hyperlvq: {message.format(folder=tmp_path)}\n")


def test_other_protocol_in_the_same_folder_is_bad_input(iris_study):
    folder, _ = iris_study
    code, _, errors = run(folder, "--sets", "iris", "--models", "knn", "--protocol", "strict")

    assert code == 2
    assert errors.startswith("hyperlvq: the folder has records of the protocol 'paper', not ")


def test_report_of_an_empty_folder_is_bad_input(tmp_path):
    code, _, errors = hyperlvq("study", "report", tmp_path, "-o", tmp_path / "page.html")

    assert (code, errors) == (2, f"hyperlvq: {tmp_path} holds no records.jsonl\n")


@pytest.mark.parametrize("command", [("report", "FOLDER", "--published"), ("costs",)])
def test_published_table_is_refused_by_its_line(tmp_path, command):
    (tmp_path / "records.jsonl").write_text(json.dumps(RECORD) + "\n")
    (tmp_path / "paper.csv").write_text("dataset,knn_acc\niris,0.9\n")
    arguments = [tmp_path if part == "FOLDER" else part for part in command]
    code, _, errors = hyperlvq("study", *arguments, tmp_path / "paper.csv")

    assert code == 2
    assert errors.startswith(f"hyperlvq: {tmp_path / 'paper.csv'}, line 1: none of the columns")
    assert errors.count("\n") == 1


def test_interrupted_study_ends_with_one_sentence(tmp_path):
    command = ["study", "run", "-o", tmp_path, "--models", "kglvq,intrvfl_glvq", "--jobs", "1"]
    process = subprocess.Popen([*PROGRAM, *command], stderr=subprocess.PIPE, text=True)
    try:
        while process.poll() is None and not (tmp_path / "records.jsonl").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()

    assert process.returncode == 130
    assert (
        errors.splitlines()[-1]
        == "hyperlvq: stopped; a study goes on from here when its command is run again"
    )
    assert "Traceback" not in errors


PIECES = st.sampled_from(
    [b"nan", b"-1", b"1e400", b"9" * 40, b"[]", b"null", b"true", b'"', b",", b"\n"]
)


def lines_of(record, **changes):
    """Return a file of a record and of a second one with these changes."""
    second = {**record, "seed": 1, **changes}
    return f"{json.dumps(record)}\n{json.dumps(second)}\n".encode()


def changed_lines(record):
    """Return files of records: any bytes changed, or any field anything that JSON can say."""
    values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
        max_leaves=3,
    )
    fields = st.sampled_from([*record])
    changed = st.builds(lambda name, value: lines_of(record, **{name: value}), fields, values)
    return st.one_of(mutated(lines_of(record), PIECES), changed)


def is_verdict(result):
    """Return whether a command ended well, or with one sentence."""
    code, _, errors = result
    complaints = [line for line in errors.splitlines() if line.startswith("hyperlvq: ")]
    return code == 0 or (code == 2 and len(complaints) == 1)


few = settings(deadline=None, max_examples=30)


@few
@given(
    content=mutated(
        b"dataset,split,knn_k,rls_features_lmb\nflowers,,3,0.5\nflowers,1,1,2\n", PIECES
    )
)
def test_run_takes_or_refuses_any_settings(content, tmp_path_factory):
    folder = write_set(tmp_path_factory.mktemp("fuzz"))
    (folder / "best.csv").write_bytes(content)

    arguments = ["--data", folder, "--models", MODELS, "--settings", folder / "best.csv"]
    assert is_verdict(run(folder / "out", *arguments))


@few
@given(content=mutated(PUBLISHED.encode(), PIECES))
def test_costs_takes_or_refuses_any_table(content, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "paper.csv"
    path.write_bytes(content)

    assert is_verdict(hyperlvq("study", "costs", path))


@few
@given(content=changed_lines(RECORD))
def test_run_takes_or_refuses_any_records(content, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "records.jsonl").write_bytes(content)

    assert is_verdict(run(folder, "--sets", "iris", "--models", "knn"))


@few
@given(content=changed_lines(SEARCH))
def test_tune_takes_or_refuses_any_records(content, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "tuning.jsonl").write_bytes(content)

    arguments = ["-o", folder, "--sets", "iris", "--models", "knn", "--jobs", 1]
    assert is_verdict(hyperlvq("study", "tune", *arguments))


@few
@given(
    records=changed_lines(RECORD),
    published=st.one_of(st.just(PUBLISHED.encode()), mutated(PUBLISHED.encode(), PIECES)),
)
def test_report_takes_or_refuses_any_files(records, published, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "records.jsonl").write_bytes(records)
    (folder / "paper.csv").write_bytes(published)

    arguments = ["-o", folder / "page.html", "--published", folder / "paper.csv"]
    assert is_verdict(hyperlvq("study", "report", folder, *arguments))
