import json

import pytest
from fuzzing import mutated
from hypothesis import given, settings
from hypothesis import strategies as st
from shell import filled, hyperlvq, output_of
from small_set import write_set
from small_tables import PUBLISHED, RECORD

from hyperlvq.study import experiments
from hyperlvq.study.records import read_records
from hyperlvq.study.tuning import values_of_grid

MODELS = "rls_features,knn"
SEARCH = {
    **RECORD,
    "split": None,
    "seed": None,
    "grid": "full",
    "n_trials": 1,
    "values": values_of_grid(experiments.MODELS["knn"], "full"),
    "scores": [0.5] * 9,
}


def run(folder, *arguments):
    return hyperlvq("study", "run", "-o", folder, "--jobs", 1, *arguments)


def test_study_runs_once_and_is_reported(tmp_path):
    arguments = (tmp_path / "study", "--sets", "iris", "--models")
    code, output, errors = run(*arguments, f"{MODELS},glvq_features")
    assert (code, output) == (0, f"28 runs completed; the records are in {arguments[0]}\n")
    assert errors.splitlines()[-1].endswith("/28 runs")

    records = read_records(arguments[0])
    assert len(records) == 4 * (1 + 1 + 5)
    assert all(record["accuracy"] > 0.5 for record in records)  # a third by chance
    assert run(*arguments, MODELS) == (
        0,
        f"0 runs completed; the records are in {arguments[0]}\n",
        "",
    )
    page = tmp_path / "iris.html"
    assert output_of("study", "report", arguments[0], "-o", page).splitlines()[-1] == str(page)
    assert "k nearest neighbours" in page.read_text()


def test_own_collection_is_studied_and_its_broken_sets_are_named(tmp_path):
    write_set(tmp_path)
    write_set(tmp_path, {"conxuntos.dat": b""}, "broken")
    code, output, errors = run(tmp_path / "out", "--data", tmp_path, "--models", "rls_features")

    assert (code, output.split(" completed")[0]) == (0, "4 runs")
    assert errors.splitlines()[-1] == "1 failed: broken/broken_R.dat is missing"


def test_settings_that_were_tuned_are_those_that_run(tmp_path):
    common = ("--sets", "iris", "--models", MODELS, "--protocol", "strict", "--jobs", 1)
    code, output, _ = hyperlvq("study", "tune", "-o", tmp_path, "--grid", "quick", *common)

    assert code == 0
    lines = output.splitlines()
    assert lines[0] == f"8 searches completed; the settings are in {tmp_path / 'settings.csv'}"
    assert {line.split(":")[0].strip() for line in lines[2:]} == {*MODELS.split(",")}

    hyperlvq("study", "run", "-o", tmp_path, "--settings", tmp_path / "settings.csv", *common)
    assert {record["settings"] for record in read_records(tmp_path)} == {tmp_path.name}


def test_costs_are_those_of_the_formulas(tmp_path):
    (tmp_path / "paper.csv").write_text(PUBLISHED)
    output = output_of("study", "costs", tmp_path / "paper.csv")

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
    monkeypatch.setattr("hyperlvq.study.device.check_real", lambda *_, **__: -1)
    code, output, _ = hyperlvq(*common, *on_device)

    assert (code, output) == (
        0,
        "1 runs completed; time limit reached, run the same command to continue\n",
    )
    monkeypatch.undo()
    assert hyperlvq(*common, *on_device)[1] == f"3 runs completed; the records are in {tmp_path}\n"
    assert hyperlvq(*common, "--jobs", 1)[1] == f"0 runs completed; the records are in {tmp_path}\n"


def test_published_settings_are_run_as_the_paper_does(tmp_path):
    (tmp_path / "paper.csv").write_text("dataset,rls_features_lmb\niris,2\n")
    common = ("--settings", tmp_path / "paper.csv", "--models", "rls_features", "--sets", "iris")
    code, output, _ = run(tmp_path, *common, "--as-published")

    assert (code, output.split(" completed")[0]) == (0, "4 runs")
    assert {record["solver"] for record in read_records(tmp_path)} == {"pinv"}


def test_defaults_are_settings_by_name(tmp_path):
    arguments = ("--sets", "iris", "--models", "knn,ridge", "--settings", "defaults")
    code, output, _ = run(tmp_path, *arguments)

    assert (code, output.split(" completed")[0]) == (0, "8 runs")
    assert {record["settings"] for record in read_records(tmp_path)} == {"defaults"}


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


PAPER = mutated(PUBLISHED.encode(), PIECES)
SETTINGS = mutated(b"dataset,split,knn_k\niris,,3\niris,2,7\n", PIECES)
KNN = ("--sets", "iris", "--models", "knn", "--jobs", 1)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (("costs", "{folder}/paper.csv"), {"paper.csv": PAPER}),
        (("run", "-o", "{folder}", *KNN), {"records.jsonl": changed_lines(RECORD)}),
        (("run", "-o", "{folder}", "--settings", "{folder}/a.csv", *KNN), {"a.csv": SETTINGS}),
        (("tune", "-o", "{folder}", *KNN), {"tuning.jsonl": changed_lines(SEARCH)}),
        (
            ("report", "{folder}", "-o", "{folder}/r.html", "--published", "{folder}/paper.csv"),
            {
                "records.jsonl": changed_lines(RECORD),
                "paper.csv": st.one_of(st.just(PUBLISHED.encode()), PAPER),
            },
        ),
    ],
    ids=["costs", "records", "settings", "searches", "report"],
)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_commands_take_or_refuse_any_files(command, files, data, tmp_path_factory):
    folder = write_set(tmp_path_factory.mktemp("fuzz"))
    for name, content in data.draw(st.fixed_dictionaries(files)).items():
        (folder / name).write_bytes(content)

    assert is_verdict(hyperlvq("study", *filled(command, folder=folder)))
