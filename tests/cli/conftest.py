"""A table, its model, and a server, for all commands."""

import pytest
from raw_server import RawServer
from small_tables import fit_colours


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """Return the model of a small table, which lies beside it as colours.csv."""
    return fit_colours(tmp_path_factory.mktemp("colours"))


@pytest.fixture(scope="session")
def table(model):
    return model.with_suffix(".csv")


@pytest.fixture
def address():
    """Return where five bytes can be downloaded."""
    with RawServer() as server:
        yield server.start(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbytes")
