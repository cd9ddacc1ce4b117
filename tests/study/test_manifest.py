from hyperlvq.study.manifest import git_blob_sha1, manifest


def test_manifest_has_121_sets_in_order():
    assert len(manifest()) == 121
    assert list(manifest()) == sorted(manifest())


def test_nineteen_sets_have_a_test_file():
    kinds = [facts.kind for facts in manifest().values()]

    assert kinds.count("test file") == 19
    assert kinds.count("splits") == 102


def test_every_sample_is_for_training_or_for_testing():
    assert all(facts.samples == facts.n_train + facts.n_test for facts in manifest().values())


def test_382_files_have_a_checksum():
    checksums = [sha1 for facts in manifest().values() for sha1 in facts.checksums.values()]

    assert len(checksums) == 382
    assert all(len(sha1) == 40 for sha1 in checksums)


def test_checksum_is_gits():
    assert git_blob_sha1(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
