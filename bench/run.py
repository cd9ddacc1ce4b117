"""Measure kernels, whole models against the peers, scaling, a cluster and a GPU.

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
from gpu_search import search_table
from kernels import encoder_table, glvq_table, lbfgs_table
from large_fit import is_there, large_fit_table
from models import load_data, model_table
from scaling import measured_curves, slope_table
from tables import as_text

PACKAGES = ("hyperlvq", "numpy", "scipy", "scikit-learn", "numba")
# Small enough for a bench of minutes; `python bench/cluster.py` fits ten million rows.
CLUSTER = ["--rows", "400000", "--partition-rows", "20000"]


def main():
    """Measure everything and print it, part by part."""
    options = parse_arguments()
    print(setting(), end="\n\n")
    for name in options.only:
        for text in PARTS[name](options):
            print(text, end="\n\n", flush=True)


def parse_arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Print the benchmark's tables.")
    parser.add_argument(
        "--peers-python",
        metavar="PATH",
        help="interpreter of an environment that has bench/requirements-peers.txt",
    )
    parser.add_argument("--only", type=parts, default=list(PARTS), help=", ".join(PARTS))
    return parser.parse_args()


def parts(text):
    """Return the parts that are asked for."""
    for name in text.split(","):
        if name not in PARTS:
            raise argparse.ArgumentTypeError(f"there is no part {name!r}")
    return text.split(",")


def setting():
    """Return what the numbers depend on."""
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores"


def measure_kernels(options):
    """Yield the tables of encoder, GLVQ and L-BFGS."""
    synthetic = load_data()["synthetic"]
    yield as_text(encoder_table())
    yield as_text(glvq_table(synthetic["X_train"], synthetic["y_train"]))
    yield as_text(lbfgs_table())


def measure_models(options):
    """Yield the table of whole models and the peers."""
    yield as_text(model_table(load_data(), options.peers_python))


def measure_large_fit(options):
    """Yield the table of one large fit."""
    yield as_text(large_fit_table())


def measure_scaling(options):
    """Yield the slopes."""
    yield as_text(slope_table(measured_curves()))


def measure_cluster(options):
    """Yield the table of a Dask cluster."""
    yield as_text(cluster_table(CLUSTER))


def measure_search(options):
    """Yield the table of the paper's whole search, or why there is none."""
    archive = os.environ.get("HYPERLVQ_DATA")
    if not archive or not is_there("cuda"):
        yield "No figures of the search over settings: it needs a GPU and HYPERLVQ_DATA."
        return
    with TemporaryDirectory() as folder:
        yield as_text(search_table(archive, folder))


PARTS = {
    "kernels": measure_kernels,
    "models": measure_models,
    "large": measure_large_fit,
    "scaling": measure_scaling,
    "cluster": measure_cluster,
    "search": measure_search,
}


if __name__ == "__main__":
    main()
