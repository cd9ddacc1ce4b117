"""Small tables as files, and small models of them, for the tests of the command line."""

import pytest
from shell import output_of

from hyperlvq.checks import InputError

#: A model that trains in a moment.
QUICK = ("--n-units", "20", "--cv", "0")
#: What trains a recipe instead of the default classifier.
RECIPE = ("--readout", "glvq")
COLOURS = "red,green,blue"
#: A run of a study, and the paper's table of one data set.
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
PUBLISHED = (
    "dataset,n_samples,n_train,protocol,n_classes,intrvfl_rls_n,rls_features_acc\n"
    "iris,150,113,kfold,3,500,0.9\n"
)


def colour_rows(n_rows=30):
    """Return rows of `a,b,kind,colour`; `a` tells the colour."""
    return [
        f"{i % 3 + i / 100},{i * 7 % 5},{'xyz'[i % 2]},{COLOURS.split(',')[i % 3]}"
        for i in range(n_rows)
    ]


def colour_table(n_rows=30):
    """Return the text of a table with a header."""
    return "\n".join(["a,b,kind,colour", *colour_rows(n_rows), ""])


def fit_colours(folder, *options):
    """Write colours.csv and its model to a folder and return the model's path."""
    table, model = folder / "colours.csv", folder / "colours.hlvq"
    table.write_text(colour_table())
    output_of("fit", table, "-t", "colour", "-o", model, *QUICK, *options)
    return model


def refusal(function, *arguments, **options):
    """Return the sentence that refuses what was given."""
    with pytest.raises(InputError) as error:
        function(*arguments, **options)
    return str(error.value)


def train_table(table, task, progress=lambda *_: None):
    """Return the model of a table that was read."""
    from hyperlvq.tables.training import train, training_rows

    return train(training_rows(table, task), task, progress)
