"""What people get wrong, by command: one sentence each, and nothing half-written.

Every case is arguments, of which `{folder}` is a folder of inputs, and words of the sentence.
"""

import json
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from shell import check_is_refused, filled, hyperlvq
from small_tables import PUBLISHED, RECIPE, RECORD, colour_rows, fit_colours

import hyperlvq as package

OLD = b"what was there before"
TABLES = {
    "empty.csv": "",
    "one_class_and_na.csv": "a,colour\n1,red\n2, NA\n3,red\n4,NA\n5,\n6,None\n",
    "other_names.csv": "A,bb,kind\n1,2,x\n",
    "no_colour.csv": "a,b,kind,color\n1,2,x,red\n",
    # of studies
    "lambda.csv": "dataset,rls_features_lmb\niris,2\n",
    "accuracy.csv": "dataset,knn_acc\niris,0.9\n",
    "paper.csv": PUBLISHED,
    "records.jsonl": f"{json.dumps(RECORD)}\n",
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Return a folder with a good table, its model, and all that is bad."""
    folder = tmp_path_factory.mktemp("inputs")
    fit_colours(folder, *RECIPE)
    for name, content in TABLES.items():
        (folder / name).write_text(content)
    good = pd.read_csv(folder / "colours.csv")
    frame = good[["a", "b"]]
    recipe = package.make_classifier("features", "centroids")
    package.save(recipe.fit(frame, good.colour), folder / "python.hlvq")
    package.save(recipe.fit(frame.to_numpy(), good.colour), folder / "array.hlvq")
    layer = package.make_classifier("rvfl", "glvq", n_units=20, random_state=0)
    package.save(layer.fit(frame, good.colour), folder / "rvfl.hlvq")
    squares = package.make_classifier("features", "rls").fit(frame, good.colour)
    package.save(squares, folder / "rls.hlvq")
    good.assign(b=np.nan).to_csv(folder / "b_missing.csv", index=False)
    for suffix in ("csv", "parquet", "svg", "png", "pdf"):
        (folder / f"full.{suffix}").symlink_to("/dev/full")
    return folder


def fit(table, *options, target="colour"):
    return ["fit", f"{{folder}}/{table}", "--target", target, "-o", "{out}/m.hlvq", *options]


def predict(table, *options, model="colours.hlvq"):
    output = [] if "-o" in options else ["-o", "{out}/p.csv"]
    return ["predict", f"{{folder}}/{model}", f"{{folder}}/{table}", *output, *options]


def evaluate(table, *options, model="colours.hlvq"):
    picture = [] if "--picture" in options else ["--picture", "{out}/c.svg"]
    return ["evaluate", f"{{folder}}/{model}", f"{{folder}}/{table}", *picture, *options]


def show(model):
    return ["show", f"{{folder}}/{model}"]


def export(*options, model="colours.hlvq"):
    return ["export", f"{{folder}}/{model}", "-o", "{out}/firmware", *options]


def study(command, *options, output="{out}/study"):
    return ["study", command, "-o", output, *options]


def report(folder, published):
    page = ("-o", "{out}/r.html", "--published", f"{{folder}}/{published}")
    return ["study", "report", folder, *page]


#: Options of `study run` and `study tune`, and how the sentence begins.
BAD_STUDIES = [
    (["--models", "gvlq"], "no model{grid} is called 'gvlq'; choose from rls_features, "),
    (["--sets", "trees"], "no data set is called 'trees'; choose from iris, wine, "),
    (["--sets", ","], "no data set is given; choose from iris, wine, "),
    (["--device", "cpu", "--jobs", 2], "--device excludes --jobs and --dask: one process uses"),
    (["--minutes", 1], "--minutes goes with --device only"),
    (["--jobs", 2, "--dask", "host:1"], "--jobs and --dask exclude each other"),
    (["--device", "cpu", "--models", "knn"], "no model to {command} on a device is called 'k"),
]
IRIS = ("--sets", "iris", "--models", "knn", "--jobs", "1", "--settings")
AS_PUBLISHED = ("--as-published", "--device", "cpu")
RLS = ("--settings", "{folder}/lambda.csv", "--models", "rls_features")
ALPHA = ("--alpha", "3")
GOOD = "colours.csv"
BAD_INPUT = [
    # tables to learn from
    (fit("empty.csv"), "empty.csv is empty"),
    (fit("gone.csv"), "gone.csv does not exist"),
    (fit("colours.hlvq"), "colours.hlvq is a model file"),
    (
        fit("one_class_and_na.csv", "--missing", "NA", "--missing", "None"),
        "has only one class in the target column 'colour': 'red'",
    ),
    (fit(GOOD, "--encoding", "utf8b"), "--encoding: unknown encoding 'utf8b'"),
    (fit(GOOD, "--skip-rows", "99"), "colours.csv is empty"),
    (fit(GOOD, "--number", "kind"), "row 1, column 'kind': 'x' is not a number"),
    (fit(GOOD, "--category", "a", "--keep", "a"), "'a' cannot be given to --category and also to"),
    (fit(GOOD, "--drop", "kinds"), "no column 'kinds' (did you mean 'kind'?)"),
    (fit(GOOD, target="color"), "has no column 'color' (did you mean 'colour'?)"),
    # options of fit
    (["fit"], "missing argument"),
    (["fit", "{folder}/colours.csv", "-o", "{out}/m.hlvq"], "missing option '--target' / '-t'"),
    (fit(GOOD, "--unitz", "3"), "no such option"),
    (fit(GOOD, "--n-units", "many"), "invalid value for '--n-units'"),
    (fit(GOOD, "--n-units", "many"), "'many'"),
    (fit(GOOD, "--cv", "1000"), "1000"),
    (fit(GOOD, "--skip-rows", "99"), "colours.csv is empty after the first 99 lines (--skip-rows)"),
    (
        fit(GOOD, "--slope", "steep"),
        "invalid value for '--slope': 'steep' is neither a number nor 'auto'; "
        "see hyperlvq fit --help",
    ),
    (fit(GOOD, "--readout", "rls", "--tol", "auto"), "--tol must be a number, got 'auto'"),
    (fit(GOOD, "--networks", "2000"), "--networks must be at most 1000, got 2000"),
    (
        fit(GOOD, "--networks", "2", "--readout", "glvq"),
        "hyperlvq: --networks is for the default classifier and cannot be combined with "
        "--readout glvq\n",
    ),
    (fit(GOOD, "--time-limit", "9", "--slope", "5"), "cannot be combined with --slope\n"),
    (
        fit(GOOD, "--networks", "2", "--tune"),
        "default classifier and cannot be combined with --tune\n",
    ),
    (fit(GOOD, "--networks", "2", "--max-ram", "2k"), "--max-ram need --networks 1, got 2\n"),
    (fit(GOOD, "--n-units", "5000", "--max-flash", "16k"), "to fit the device, got 5000"),
    (fit(GOOD, "--cv", "1"), "--cv must be 0 or at least 2"),
    (
        fit(GOOD, "--readout", "perceptron", "--learning-rate", "1e300"),
        "--learning-rate must be at most 1, got 1e+300",
    ),
    (
        fit(GOOD, *ALPHA, "--hidden", "features", "--readout", "lvq1"),
        "hyperlvq: --alpha is not a parameter of features with lvq1, which has "
        "--prototypes-per-class, --learning-rate, --max-iter, --init-noise, --class-weight\n",
    ),
    (
        fit(GOOD, *ALPHA, "--hidden", "features", "--readout", "centroids"),
        "hyperlvq: --alpha is not a parameter of features with centroids, which has no "
        "parameters\n",
    ),
    (fit(GOOD, "--chip", "avr"), "--chip needs --max-flash or --max-ram"),
    (fit(GOOD, "--input", "float"), "--input needs --max-flash or --max-ram"),
    (fit(GOOD, "--hidden", "deep"), "invalid value for '--hidden': 'deep' is not one of"),
    (fit(GOOD, "--tune", "--hidden", "features", "--readout", "centroids"), "no parameters left"),
    (fit(GOOD, "--min-accuracy", "0.5", "--cv", "0"), "--min-accuracy needs cross-validation"),
    # devices
    (fit(GOOD, "--max-flash", "200"), "no model of 4 features and 3 classes fits the device"),
    (fit(GOOD, "--max-ram", "2k", "--hidden", "rvfl"), "--max-ram: rvfl with glvq cannot be"),
    (export("--to", "onnx", "--trainable"), "--trainable needs --to c"),
    (export("--rule", "glvq"), "--rule needs --trainable"),
    (export("--trainable", "--learning-rate", "0"), "learning_rate must be a finite number above"),
    (export("--bits", "16", "--trainable"), "--bits cannot be combined with --trainable"),
    (export("--name", "int"), "standard header of C, got 'int'"),
    (export("--vectors", "gone.csv"), "gone.csv"),
    (export(model="rvfl.hlvq"), "hyperlvq: cannot export RVFLLayer: its real weights"),
    # where the model goes
    (fit(GOOD, "-o", "{out}/gone/m.hlvq"), "there is no folder"),
    (fit(GOOD, "-o", "/dev/full", "--n-units", "5"), "No space left on device"),
    (
        fit(GOOD, "-o", "{folder}/colours.csv"),
        "colours.csv is also an input: choose another output file",
    ),
    # model files
    (show("colours.csv"), "colours.csv is not a model that hyperlvq saved"),
    (show("gone.hlvq"), "gone.hlvq cannot be read: No such file or directory"),
    # tables to predict
    (["predict", "-", "-"], "the model and the table cannot both come from standard input"),
    (predict(GOOD, model="array.hlvq"), "fitted in Python without column names"),
    (predict(GOOD, "--proba", model="rls.hlvq"), "--proba: rls has no probabilities"),
    (predict("b_missing.csv", model="python.hlvq"), "b_missing.csv cannot be predicted"),
    (predict("other_names.csv"), "no columns 'a' (did you mean 'A'?), 'b' (did you mean 'bb'?)"),
    (predict(GOOD, "--keep", "knid"), "no column 'knid' (did you mean 'kind'?)"),
    # where predictions go
    (predict(GOOD, "-o", "{out}/p.xlsx"), "p.xlsx must end in .csv, .tsv, .parquet"),
    (predict(GOOD, "-o", "{folder}/full.csv"), "full.csv cannot be written: No space left"),
    (predict(GOOD, "-o", "{folder}/full.parquet"), "full.parquet cannot be written: No space left"),
    (predict(GOOD, "-o", "{folder}/colours.csv"), "colours.csv is also an input"),
    # tables to evaluate
    (evaluate("no_colour.csv"), "no column 'colour' (did you mean 'color'?)"),
    (evaluate(GOOD, "--target", "size"), "has no column 'size', only"),
    (evaluate(GOOD, model="python.hlvq"), "--target is required, because models saved in Python"),
    (evaluate(GOOD, "--picture", "{out}/c.txt"), "c.txt must be named *.svg, *.png or *.pdf"),
    (evaluate(GOOD, "--picture", "{out}/gone/c.svg"), "there is no folder"),
    *(
        (evaluate(GOOD, "--picture", f"{{folder}}/{name}"), f"{name} cannot be written: No space")
        for name in ("full.svg", "full.png", "full.pdf")
    ),
    # studies and their data
    *(
        (study(command, *options), f"hyperlvq: {sentence.format(command=command, grid=grid)}")
        for command, grid in {"run": "", "tune": " with a grid"}.items()
        for options, sentence in BAD_STUDIES
    ),
    (
        study("tune", "--as-published", "--grid", "quick"),
        "--as-published uses the paper's grid: leave",
    ),
    (
        study("tune", "--as-published", "--protocol", "strict"),
        "the search as published has the pro",
    ),
    (["study", "run"], "missing option '--output' / '-o'; see hyperlvq study run --help\n"),
    (study("run", *RLS), "the settings lambda have no column 'tuning': add it if rls_features wa"),
    (study("run", *RLS, *AS_PUBLISHED), "no model to run on a device as published is"),
    (study("run", *IRIS, "none.csv"), "none.csv cannot be read: No such file or directory\n"),
    (
        study("run", *IRIS, "defaults", output="{folder}/lambda.csv"),
        "lambda.csv is a file, not a folder\n",
    ),
    (
        study("run", *IRIS, "defaults", "--protocol", "strict", output="{folder}"),
        "hyperlvq: the folder has records of the protocol 'paper', not ",
    ),
    (report("{out}", "paper.csv"), "holds no records.jsonl\n"),
    (report("{folder}", "paper.csv"), "are of the collection, this study is of built-in data"),
    (["study", "costs", "{folder}/accuracy.csv"], "accuracy.csv, line 1: none of the columns"),
    (
        ["data", "list", "{folder}", "--built-in"],
        "hyperlvq: PATH and --built-in cannot be combined\n",
    ),
    (["data", "verify", "{folder}/nowhere.tar.xz"], "/nowhere.tar.xz does not exist\n"),
    (["data", "fetch", "notaurl", "-o", "{out}/x"], "'notaurl' is not an http or https address\n"),
    (["data", "fetch", "http://127.0.0.1/a"], "--output is required with a URL"),
    # no command
    (
        ["studdy"],
        "hyperlvq: no such command 'studdy' (did you mean 'study'?); see hyperlvq --help\n",
    ),
]


def contents(folder):
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


@pytest.mark.parametrize(("arguments", "words"), BAD_INPUT)
def test_bad_input_is_one_sentence_and_leaves_files_as_they_were(
    arguments, words, inputs, tmp_path
):
    for name in ("m.hlvq", "p.csv", "c.svg"):
        (tmp_path / name).write_bytes(OLD)
    before, inputs_before = contents(tmp_path), contents(inputs)

    result = hyperlvq(*filled(arguments, folder=inputs, out=tmp_path))

    check_is_refused(result, words)
    assert contents(tmp_path) == before
    assert contents(inputs) == inputs_before


def test_a_table_without_permission_is_one_sentence(inputs, tmp_path):
    arguments = filled(fit(GOOD), folder=inputs, out=tmp_path)

    with patch("builtins.open", side_effect=PermissionError(13, "Permission denied")):
        result = hyperlvq(*arguments)

    check_is_refused(result, "colours.csv cannot be read: permission denied")
    assert contents(tmp_path) == {}


def test_a_bad_row_late_in_a_table_leaves_the_old_predictions(inputs, tmp_path):
    rows = [row.rsplit(",", 1)[0] for row in colour_rows(20_000)]
    rows[-1] = "what,is,this"
    (tmp_path / "new.csv").write_text("\n".join(["a,b,kind", *rows]))
    (tmp_path / "p.csv").write_bytes(OLD)

    result = hyperlvq(
        "predict", inputs / "colours.hlvq", tmp_path / "new.csv", "-o", tmp_path / "p.csv"
    )

    check_is_refused(result, "new.csv, row 20000, column 'a': 'what' is not a number")
    assert (tmp_path / "p.csv").read_bytes() == OLD
    assert sorted(contents(tmp_path)) == ["new.csv", "p.csv"]
