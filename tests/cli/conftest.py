"""A table, its model, and a server, for all commands."""

import pytest
from raw_server import RawServer
from small_tables import RECIPE, fit_colours


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """Return a recipe's model of a small table, which lies beside it as colours.csv."""
    return fit_colours(tmp_path_factory.mktemp("colours"), *RECIPE)


@pytest.fixture(scope="session")
def table(model):
    return model.with_suffix(".csv")


@pytest.fixture(scope="session")
def default_model(tmp_path_factory):
    """Return the default classifier of the same table."""
    return fit_colours(tmp_path_factory.mktemp("default"))


@pytest.fixture
def address():
    """Return where five bytes can be downloaded."""
    with RawServer() as server:
        yield server.start(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbytes")
