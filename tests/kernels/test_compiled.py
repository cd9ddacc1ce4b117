import numba

from hyperlvq.kernels.compiled import compiled


def double(x):
    return 2 * x


def test_function_compiles_where_nothing_can_be_written(monkeypatch):
    assert compiled(double)(21) == 42
    njit = numba.njit

    def njit_without_a_place_to_write(**options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return njit(**options)

    monkeypatch.setattr(numba, "njit", njit_without_a_place_to_write)
    assert compiled(double)(21) == 42
