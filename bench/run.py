"""Measure kernels, predictions, threads, commands, models against peers, scaling, a cluster, a GPU.

    python bench/run.py [--peers-python PATH] [--only PART,PART]

Prints medians of wall-clock time, taken after a warm-up. PATH is the interpreter of an
environment that has bench/requirements-peers.txt. What needs a GPU says so where there is none; the
search over settings also needs the collection, found through HYPERLVQ_DATA.
"""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # before scipy is imported: tensors on a GPU need it

import argparse
import platform
from importlib.metadata import version
from tempfile import TemporaryDirectory

from cluster import cluster_table
from commands import command_table
from gpu_search import search_table
from kernels import encoder_table, glvq_table, lbfgs_table
from large_fit import is_there, large_fit_table
from models import grid_table, load_data, model_table
from prediction import prediction_tables
from scaling import measured_curves, slope_table
from threads import threads_table

PACKAGES = ("hyperlvq", "numpy", "scipy", "scikit-learn", "numba")
# Small enough for a bench of minutes; `python bench/cluster.py` fits ten million rows.
CLUSTER = ["--rows", "400000", "--partition-rows", "20000"]


def main():
    """Measure everything and print it, part by part."""
    parser = argparse.ArgumentParser(description="Print the benchmark's tables.")
    parser.add_argument(
        "--peers-python",
        metavar="PATH",
        help="interpreter of an environment that has bench/requirements-peers.txt",
    )
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    options = parser.parse_args()
    parts = options.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"there is no part {unknown.pop()!r}: choose from {', '.join(PARTS)}")
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    print(f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores", end="\n\n")
    for part in parts:
        for table in PARTS[part](options):
            print(table, end="\n\n", flush=True)


def kernel_tables(options):
    """Yield the tables of encoder, GLVQ and L-BFGS."""
    synthetic = load_data()["synthetic"]
    yield encoder_table()
    yield glvq_table(synthetic["X_train"], synthetic["y_train"])
    yield lbfgs_table()


def search_tables(options):
    """Yield the table of the paper's whole search, or why there is none."""
    archive = os.environ.get("HYPERLVQ_DATA")
    if not archive or not is_there("cuda"):
        yield "No figures of the search over settings: it needs a GPU and HYPERLVQ_DATA."
        return
    with TemporaryDirectory() as folder:
        yield search_table(archive, folder)


PARTS = {
    "kernels": kernel_tables,
    "prediction": lambda options: prediction_tables(),
    "threads": lambda options: [threads_table()],
    "commands": lambda options: [command_table(options.peers_python)],
    "models": lambda options: [model_table(load_data(), options.peers_python), grid_table()],
    "large": lambda options: [large_fit_table()],
    "scaling": lambda options: [slope_table(measured_curves())],
    "cluster": lambda options: [cluster_table(CLUSTER)],
    "search": search_tables,
}


if __name__ == "__main__":
    main()
