"""A small data set in the public layout, for tests of whatever reads that layout."""

NAME = "flowers"
ROWS = [
    "1\t-0.5\t1e-1\t0",
    "2\t0.25\t-2\t1",
    "3\t3\t0\t0",
    "4\t1.5\t0.125\t1",
    "5\t0\t7\t0",
    "6\t-1\t2\t1",
    "7\t4\t1\t0",
    "8\t0.5\t-0.5\t1",
]
TABLE = "\n".join(["\tf1\tf2\tclase", *ROWS, ""]).encode()
TUNING = b"0 3 4 7 \n1 2 5 6 \n"
SPLITS = b"0 1 2 3 4 5 \n6 7 \n2 3 4 5 6 7 \n0 1 \n0 1 4 5 6 7 \n2 3 \n0 1 2 3 6 7 \n4 5 \n"
FILES = {f"{NAME}_R.dat": TABLE, "conxuntos.dat": TUNING, "conxuntos_kfold.dat": SPLITS}


def with_test_file(name=NAME):
    """Return the files of a set that is evaluated on a fixed test file."""
    index_files = {"conxuntos.dat": TUNING, "conxuntos_kfold.dat": SPLITS}
    return {f"{name}_train_R.dat": TABLE, f"{name}_test_R.dat": TABLE, **index_files}


def write_set(folder, files=FILES, name=NAME):
    """Write files of one data set below `folder`, and return `folder`."""
    target = folder / "data" / name
    target.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        (target / file).write_bytes(content)
    return folder
