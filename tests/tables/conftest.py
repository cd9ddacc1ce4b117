import io
import sys

import pytest

from hyperlvq import CentroidClassifier
from hyperlvq.prediction import Predictor
from hyperlvq.saving import to_parts
from hyperlvq.tables.read import read_table


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write content to a file called table.csv, or another name, and return that name."""
    monkeypatch.chdir(tmp_path)

    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    return write


@pytest.fixture
def read(write):
    """Return a function from a file's content to its table."""
    return lambda content: read_table(write(content))


@pytest.fixture
def standard_input(monkeypatch):
    """Return a function that puts bytes on standard input."""

    def put(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return put


@pytest.fixture
def signs():
    """Return a function from two labels to a model that gives them to negative and positive."""
    return lambda *labels: Predictor(to_parts(CentroidClassifier().fit([[-1], [1]], labels)).parts)
