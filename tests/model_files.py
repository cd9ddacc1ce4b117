"""Model files taken apart, changed and put together again, for tests of whatever reads them."""

import json

from safetensors import numpy as safetensors

from hyperlvq.model_files import ENTRY


def take_apart(content):
    """Return our values in the header and the arrays of a model file."""
    n_header = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + n_header])
    arrays = sorted(safetensors.load(content).items())  # in an order that differs from run to run
    return json.loads(header["__metadata__"][ENTRY]), dict(arrays)


def put_together(values, arrays):
    """Return a model file; the values may be anything that JSON has, or its text."""
    text = values if isinstance(values, str) else json.dumps(values)
    return safetensors.save(arrays, {ENTRY: text})


def changed(content, **changes):
    """Return a model file with other values in its header."""
    values, arrays = take_apart(content)
    return put_together({**values, **changes}, arrays)
