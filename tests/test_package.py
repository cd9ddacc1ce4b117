"""The package as it is installed: what it exports, how fast it loads."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import hyperlvq
from hyperlvq.kernels.encoding import encode, encode_rows


def output_of(script):
    """Return what a fresh interpreter prints."""
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_everything_public_is_exported():
    assert all(hasattr(hyperlvq, name) for name in hyperlvq.__all__)
    assert set(hyperlvq.__all__) <= set(dir(hyperlvq))


def test_the_citation_is_of_this_version():
    citation = (Path(__file__).parents[1] / "CITATION.cff").read_text()

    assert f"\nversion: {hyperlvq.__version__}\n" in citation


def test_unknown_attribute_is_named():
    with pytest.raises(AttributeError, match="module 'hyperlvq' has no attribute 'nothing'"):
        _ = hyperlvq.nothing


def test_version_is_that_of_the_installed_package():
    assert hyperlvq.__version__ == version("hyperlvq")


def test_type_checkers_know_what_is_exported(tmp_path):
    script = tmp_path / "script.py"
    lines = ["import hyperlvq", *(f"reveal_type(hyperlvq.{name})" for name in hyperlvq.__all__)]
    script.write_text("\n".join(lines))
    command = [sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache", script]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    types = [line.split("Revealed type is ")[1] for line in result.stdout.splitlines()[:-1]]
    assert len(types) == len(lines) - 1, result.stdout
    assert '"Any"' not in types


def test_import_alone_loads_neither_scikit_learn_nor_numba():
    script = "import sys, hyperlvq; print({'sklearn', 'numba'} & set(sys.modules))"

    assert output_of(script) == "set()"


def test_everything_loads_in_half_a_second_after_scikit_learn():
    script = (
        "import time, sklearn.pipeline; start = time.perf_counter(); "
        "from hyperlvq import *; print(time.perf_counter() - start)"
    )

    assert min(float(output_of(script)) for _ in range(5)) < 0.5


@pytest.mark.compiled
def test_compiled_kernels_are_cached_on_disk():
    encode_rows(np.zeros((1, 1)), np.ones((1, 1), np.int8), 1)

    assert list(Path(encode.stats.cache_path).glob("encoding.encode-*.nbi"))
