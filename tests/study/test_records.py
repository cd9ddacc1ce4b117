import json

import pytest

from hyperlvq.checks import InputError
from hyperlvq.study.records import KEY, RECORDS_NAME, failure, open_records, read_records


def make_record(seed=0, **changes):
    values = ("paper", "knn", "iris", 0, seed)
    return {**dict(zip(KEY, values, strict=True)), "accuracy": 0.1 + 0.2, **changes}


def write_lines(folder, *lines):
    (folder / RECORDS_NAME).write_bytes(b"\n".join(lines))
    return folder


def line_of(record):
    return json.dumps(record).encode()


def append(folder, *records):
    with open_records(folder) as file:
        for record in records:
            file.append(record)


@pytest.mark.parametrize("name", [RECORDS_NAME, "tuning.jsonl"])
def test_records_are_lines_read_as_they_were_appended(tmp_path, name):
    records = [make_record(), make_record(1, error="größer\nals null")]
    folder = tmp_path / "new" / "study"
    with open_records(folder, name) as file:
        for n_written, record in enumerate(records, 1):
            file.append(record)
            # on the disk before the file is closed
            assert read_records(folder, name) == records[:n_written]

    assert (folder / name).read_bytes().count(b"\n") == 2


def test_records_of_earlier_runs_are_there_when_a_file_is_opened(tmp_path):
    append(tmp_path, make_record())

    with open_records(tmp_path) as file:
        file.append(make_record(1))
        assert file.records == [make_record(), make_record(1)]


@pytest.mark.parametrize("n_bytes", [0, 1, 20, 30, -1, None])
def test_last_line_that_was_cut_off_is_left_out_and_removed_before_the_next(tmp_path, n_bytes):
    write_lines(tmp_path, line_of(make_record()), line_of(make_record(1))[:n_bytes])

    assert read_records(tmp_path) == [make_record()]
    append(tmp_path, make_record(2))
    assert read_records(tmp_path) == [make_record(), make_record(2)]


def test_number_that_is_not_finite_is_never_written(tmp_path):
    with open_records(tmp_path) as file, pytest.raises(ValueError, match="Out of range float"):
        file.append(make_record(accuracy=float("nan")))

    assert read_records(tmp_path) == []


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"junk", b"\xff\xfe", b"[]", b"null", b"{}", b"[" * 100_000),
        line_of({"protocol": "paper", "model": "knn", "dataset": "iris", "split": 0}),
        *(line_of(make_record(seed=seed)) for seed in ("first", -1, 2**32, 10**30, True, 0.0)),
        *(line_of(make_record(split=split)) for split in ([0], -1)),
        line_of(make_record(dataset=None)),
        line_of(make_record(model={})),
        line_of(make_record(dataset="half a character: \ud800")),
        line_of(make_record(error="\ud800")),
        line_of(make_record(dataset="raw")).replace(b"raw", b"\xed\xa0\x80"),
    ],
)
def test_line_that_is_no_record_is_refused_by_its_number(tmp_path, line):
    write_lines(tmp_path, line_of(make_record()), line, line_of(make_record(1)), b"")

    with pytest.raises(InputError, match=r"records\.jsonl, line 2: not a record of a study"):
        read_records(tmp_path)
    with pytest.raises(InputError, match="line 2"):
        append(tmp_path)


def test_file_that_is_refused_is_left_as_it_is(tmp_path):
    write_lines(tmp_path, b"junk", b"cut off")
    with pytest.raises(InputError, match="line 1"):
        append(tmp_path)

    assert (tmp_path / RECORDS_NAME).read_bytes() == b"junk\ncut off"


def test_second_writer_is_refused(tmp_path):
    with open_records(tmp_path) as file:
        file.append(make_record())
        with pytest.raises(InputError, match=r"another run is writing to .*records\.jsonl"):
            append(tmp_path)
        file.append(make_record(1))
    append(tmp_path, make_record(2))

    assert len(read_records(tmp_path)) == 3


@pytest.mark.parametrize(
    ("use", "place", "message"),
    [
        (read_records, ".", "holds no records.jsonl"),
        (read_records, "file", "records.jsonl cannot be read: Not a directory"),
        (append, "file", "file is a file, not a folder"),
        (append, "file/below", "records.jsonl cannot be written: Not a directory"),
    ],
)
def test_folder_that_cannot_hold_records_is_refused(tmp_path, use, place, message):
    (tmp_path / "file").touch()

    with pytest.raises(InputError, match=message):
        use(tmp_path / place)


def test_failure_is_the_first_line_of_what_happened():
    sentences = [
        failure({"model": "knn"}, error)["error"]
        for error in (ValueError("\ntoo few samples\nsee the manual"), MemoryError())
    ]

    assert sentences == ["too few samples", "MemoryError"]


def test_a_full_disk_is_one_sentence_and_keeps_what_was_written(tmp_path):
    resource = pytest.importorskip("resource", reason="file sizes can be limited on Unix alone")
    record = {"protocol": "p", "model": "m", "dataset": "d" * 60, "split": 0, "seed": 0}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (250, hard))
    try:
        with open_records(tmp_path) as records:
            records.append(record)
            with pytest.raises(InputError, match=r"records.jsonl cannot be written: "):
                records.append(record)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert read_records(tmp_path) == [record]
