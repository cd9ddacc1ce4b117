"""Measure encoder, GLVQ and whole models against plain numpy, bare BLAS and the peers.

    python bench/run.py [--peers-python PATH]

Prints medians of wall-clock time, taken after a warm-up. PATH is the interpreter of an
environment that has bench/requirements-peers.txt.
"""

import argparse
import os
import platform
from importlib.metadata import version

from kernels import encoder_table, glvq_table
from models import load_data, model_table
from tables import as_text

PACKAGES = ("hyperlvq", "numpy", "scipy", "scikit-learn", "numba")


def main():
    """Measure everything and print it, part by part."""
    peers_python = parse_arguments().peers_python
    data_sets = load_data()
    synthetic = data_sets["synthetic"]
    print(setting(), end="\n\n")
    print(as_text(encoder_table()), end="\n\n")
    print(as_text(glvq_table(synthetic["X_train"], synthetic["y_train"])), end="\n\n")
    print(as_text(model_table(data_sets, peers_python)))


def parse_arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Print the benchmark's tables.")
    parser.add_argument(
        "--peers-python",
        metavar="PATH",
        help="interpreter of an environment that has bench/requirements-peers.txt",
    )
    return parser.parse_args()


def setting():
    """Return what the numbers depend on."""
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores"


if __name__ == "__main__":
    main()
