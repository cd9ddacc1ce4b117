import numpy as np
import pytest
from small_set import FILES, NAME, ROWS, TABLE, TUNING, with_test_file, write_set

from hyperlvq.checks import InputError
from hyperlvq.study.collection import (
    BuiltinCollection,
    facts_of,
    find_files,
    git_blob_sha1,
    manifest,
    open_collection,
)

IRIS = {f"iris{file.removeprefix(NAME)}": content for file, content in FILES.items()}


@pytest.mark.parametrize("files", [FILES, with_test_file()])
def test_set_of_ones_own_is_loaded(tmp_path, files):
    data_set = open_collection(write_set(tmp_path, files)).load(NAME)

    assert data_set.name == NAME
    assert data_set.X.shape == (8, 2)
    assert data_set.tuning.train.tolist() == [0, 3, 4, 7]
    assert [len(split.test) for split in data_set.splits] == [2, 2, 2, 2]
    if files is FILES:
        assert data_set.X_test is None
    else:
        assert data_set.X_test.shape == (8, 2)
        assert data_set.y_test.tolist() == [0, 1] * 4


def test_folder_may_be_data_or_hold_it(tmp_path):
    write_set(tmp_path)
    write_set(tmp_path, {"readme.txt": b""}, name="notes")
    write_set(tmp_path, {"conxuntos.dat": b""}, name="un\nprintable")

    assert find_files(tmp_path) == find_files(tmp_path / "data")
    assert find_files(tmp_path).keys() == {NAME}
    assert find_files(tmp_path)[NAME].keys() == FILES.keys()


@pytest.mark.parametrize("name", ["folder", "a.tar"])
def test_unreadable_path_is_refused(tmp_path, monkeypatch, name):
    def forbidden(*_):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "folder").mkdir()
    monkeypatch.setattr("pathlib.Path.iterdir", forbidden)
    monkeypatch.setattr("builtins.open", forbidden)

    with pytest.raises(InputError, match=f"{name} cannot be read: Permission denied"):
        find_files(tmp_path / name)


def test_public_sets_come_first(tmp_path):
    for name in ("zoo", "abacus", NAME, "adult"):
        write_set(tmp_path, {"conxuntos.dat": TUNING}, name)

    assert open_collection(tmp_path).names() == ["adult", "zoo", "abacus", NAME]


def test_set_is_parsed_once(tmp_path):
    collection = open_collection(write_set(tmp_path))

    assert collection.load(NAME) is collection.load(NAME)


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no data set in the layout"):
        open_collection(tmp_path)
    with pytest.raises(InputError, match="nowhere does not exist"):
        open_collection(tmp_path / "nowhere")
    with pytest.raises(InputError, match="has no data set called 'trees'"):
        open_collection(write_set(tmp_path)).load("trees")


WIDE = "\n".join(["\tf1\tf2\tf3\tclase", *(row[:-1] + "0\t0" for row in ROWS)]).encode()
OTHER_SUM = (
    "iris/iris_R.dat differs from the file that the study used "
    f"(git blob SHA-1 {git_blob_sha1(TABLE)}, expected "
    f"{manifest()['iris'].checksums['iris_R.dat']})"
)


@pytest.mark.parametrize(
    ("files", "changes", "sentence"),
    [
        *(
            (files, {name: None}, f"{NAME}/{name} is missing")
            for files in (FILES, with_test_file())
            for name in files
        ),
        (
            with_test_file(),
            {f"{NAME}_test_R.dat": WIDE},
            f"{NAME}/{NAME}_test_R.dat has 3 features, the training file has 2",
        ),
        (
            with_test_file(),
            {f"{NAME}_test_R.dat": TABLE.rstrip()[:-1] + b"2\n"},
            f"{NAME}/{NAME}_test_R.dat, line 9: class 2 is not a whole number from 0 to 1",
        ),
        (IRIS, {}, OTHER_SUM),
        # a line number is worth more than a checksum
        (
            IRIS,
            {"iris_R.dat": TABLE.replace(b"7", b"seven")},
            "iris/iris_R.dat, line 6: f2 is 'seven', not a finite number",
        ),
    ],
)
def test_wrong_set_is_refused(tmp_path, files, changes, sentence):
    files = {name: content for name, content in {**files, **changes}.items() if content is not None}
    name = "iris" if "iris_R.dat" in files else NAME

    with pytest.raises(InputError) as caught:
        open_collection(write_set(tmp_path, files, name)).load(name)
    assert str(caught.value) == sentence


def test_file_that_vanished_since_is_refused(tmp_path):
    collection = open_collection(write_set(tmp_path))
    (tmp_path / "data" / NAME / f"{NAME}_R.dat").unlink()

    with pytest.raises(InputError, match=f"{NAME}_R.dat cannot be read: No such file"):
        collection.load(NAME)


@pytest.mark.data
def test_manifest_is_true_of_the_collection(uci):
    loaded = [name for name in uci.names() if name != "miniboone"]

    for name in loaded:
        facts = manifest()[name]
        expected = facts_of(uci.load(name))
        assert {**vars(facts), "checksums": {}} == vars(expected)
    assert len(loaded) == 120


@pytest.mark.parametrize("name", BuiltinCollection().names())
def test_built_in_sets_are_split_as_the_public_ones_and_stratified(name):
    data_set = BuiltinCollection().load(name)

    assert len({frozenset(split.test) for split in data_set.splits}) == 4
    shares = np.bincount(data_set.y) / len(data_set.y)
    for rows, share in [(data_set.tuning, 0.5), *((split, 0.25) for split in data_set.splits)]:
        assert np.sort(np.concatenate(rows)).tolist() == list(range(len(data_set.X)))
        assert len(rows.test) / len(data_set.X) == pytest.approx(share, abs=0.01)
        tested = np.bincount(data_set.y[rows.test]) / len(rows.test)
        np.testing.assert_allclose(tested, shares, atol=0.02)


def test_manifest_has_121_sets_in_order_with_382_checksums():
    checksums = [sha1 for facts in manifest().values() for sha1 in facts.checksums.values()]
    kinds = [facts.kind for facts in manifest().values()]

    assert len(manifest()) == 121
    assert list(manifest()) == sorted(manifest())
    assert (kinds.count("test file"), kinds.count("splits")) == (19, 102)
    assert len(checksums) == 382
    assert all(len(sha1) == 40 for sha1 in checksums)
    assert all(facts.samples == facts.n_train + facts.n_test for facts in manifest().values())


def test_checksum_is_gits():
    assert git_blob_sha1(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
