import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from hyperlvq import GLVQClassifier
from hyperlvq.kernels import threads
from hyperlvq.kernels.glvq import cost_and_gradient
from hyperlvq.kernels.threads import blas_libraries, block_threads, map_in_waves, share_rows


def blas_threads():
    return {library.num_threads for library in blas_libraries()}


@pytest.mark.parametrize("n_threads", [1, 2])
def test_blas_has_one_thread_within_and_its_own_after(n_threads):
    with threadpool_limits(n_threads, user_api="blas"):
        with block_threads() as map_blocks:
            assert blas_threads() == {1}
            assert list(map_blocks(abs, [-1, -2, -3])) == [1, 2, 3]
            assert (map_blocks is map) == (n_threads == 1)
        assert blas_threads() == {n_threads}


def test_the_last_holder_gives_blas_its_threads_back_whichever_thread_it_is_in():
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as other:
        last = block_threads()
        with block_threads():  # two holders overlap
            other.submit(last.__enter__).result()
        assert blas_threads() == {1}
        other.submit(last.__exit__, None, None, None).result()
        assert blas_threads() == {2}


def test_concurrent_fits_leave_blas_as_it_was(activations):
    X, y = activations

    def fit(seed):
        return GLVQClassifier(max_iter=5, tol=0.1, random_state=seed).fit(X, y)

    with threadpool_limits(2, user_api="blas"):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(fit, range(16)))
        assert blas_threads() == {2}


@pytest.mark.parametrize("n_items", [0, 1, 2, 3, 10])
def test_waves_keep_the_order(n_items):
    with ThreadPoolExecutor(3) as pool:
        assert list(map_in_waves(pool, 3, abs, list(range(n_items)))) == list(range(n_items))


def test_at_most_one_wave_runs_ahead_of_its_consumer():
    started = []
    with ThreadPoolExecutor(2) as pool:
        results = map_in_waves(pool, 4, started.append, list(range(100)))
        next(results)

    assert len(started) <= 4


def test_threads_give_the_same_bits(rng):
    X = rng.integers(-3, 4, size=(3000, 20)).astype(np.int8)
    y = rng.integers(2, size=3000)
    problem = rng.normal(size=(2, 20)), np.arange(2), X, y, 5.0, np.ones(3000)

    expected_cost, expected = cost_and_gradient(*problem)
    with threadpool_limits(2, user_api="blas"), block_threads() as map_blocks:
        cost, gradient = cost_and_gradient(*problem, map_blocks=map_blocks)
    assert cost == expected_cost
    np.testing.assert_array_equal(gradient, expected)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n_rows", [0, 1, 5, 100])
def test_shares_cover_all_rows_once(n_rows, n_threads, monkeypatch):
    monkeypatch.setattr(threads, "PRODUCTS_WORTH_A_THREAD", 1)
    visits, seen = np.zeros(n_rows, int), set()

    def visit(rows):
        visits[rows] += 1
        seen.add(threading.get_ident())

    share_rows(visit, n_rows, 10, n_threads)

    assert (visits == 1).all()
    assert len(seen) <= n_threads


def test_little_work_stays_in_one_thread():
    seen = []

    share_rows(lambda rows: seen.append(threading.get_ident()), 1000, 1000, n_threads=4)

    assert seen == [threading.get_ident()]


@pytest.mark.parametrize(("n_cores", "usable"), [(1, 1), (8, 4)])
def test_the_library_with_the_most_threads_counts_up_to_one_per_core(monkeypatch, n_cores, usable):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(n_cores), raising=False)

    assert threads._usable_threads([1, 4, 2]) == usable


@pytest.mark.parametrize("is_main", [False, True], ids=["helper", "main"])
def test_an_error_in_a_share_reaches_the_caller(is_main):
    main, has_failed = threading.get_ident(), threading.Event()

    def fail(rows):
        if (threading.get_ident() == main) == is_main:
            has_failed.set()
            raise IndexError("of ours")
        assert has_failed.wait(10)

    with pytest.raises(IndexError, match="of ours"):
        share_rows(fail, 2**20, 2**10, n_threads=2)


def test_shares_within_shares_end(monkeypatch):
    monkeypatch.setattr(threads, "PRODUCTS_WORTH_A_THREAD", 1)
    visits = np.zeros(100, int)

    def share(rows):
        part = visits[rows]
        share_rows(lambda inner: np.add.at(part, inner, 1), len(part), 10, n_threads=3)

    share_rows(share, 100, 10, n_threads=3)

    assert (visits == 1).all()


def test_threads_that_outlive_the_main_one_do_all_themselves():
    script = """
import threading, time
from hyperlvq.kernels.threads import block_threads, share_rows

def work():
    threading.main_thread().join()
    time.sleep(0.2)
    share_rows(lambda rows: None, 2**20, 2**10, n_threads=2)
    with block_threads() as map_blocks:
        print(list(map_blocks(abs, [-1, -2, -3])))

threading.Thread(target=work).start()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert (done.stdout, done.stderr) == ("[1, 2, 3]\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_process_forked_meanwhile_has_all_threads_of_blas_and_helpers_of_its_own():
    share_rows(lambda rows: None, 2**20, 2**10, n_threads=2)
    with threadpool_limits(2, user_api="blas"), block_threads():
        child = os.fork()
        if not child:
            share_rows(lambda rows: time.sleep(0.01), 2**20, 2**10, n_threads=2)
            os._exit(blas_threads() != {2})

    assert os.waitpid(child, 0)[1] == 0
