"""Small tables as files, and small models of them, for the tests of the command line."""

from shell import hyperlvq

#: A model that trains in a moment.
QUICK = ("--n-units", "20", "--cv", "0")
COLOURS = "red,green,blue"


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
    code, _, errors = hyperlvq("fit", table, "-t", "colour", "-o", model, *QUICK, *options)
    assert (code, errors) == (0, "")
    return model
