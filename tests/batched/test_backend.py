import numpy as np
import pytest

from hyperlvq.batched.backend import open_backend, split
from hyperlvq.checks import InputError


def test_halves_of_a_number_add_up_and_fit_tensor_cores(rng):
    numbers = (rng.normal(size=1000) * 10.0 ** rng.integers(-6, 7, size=1000)).astype(np.float32)
    high, low = split(numbers)

    np.testing.assert_array_equal(high + low, numbers)
    for half in (high, low):
        mantissas = np.frexp(half)[0] * 2**12
        np.testing.assert_array_equal(mantissas, np.rint(mantissas))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "tpu"}, "device must be one of 'cpu', 'cuda', got 'tpu'"),
        ({"products": "half"}, "products must be one of 'float32', 'split', got 'half'"),
    ],
)
def test_wrong_option_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        open_backend(**options)


def test_missing_gpu_is_one_sentence():
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'hyperlvq[torch]'")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")

    with pytest.raises(InputError, match="needs an NVIDIA GPU that torch can use; there is none"):
        open_backend("cuda")
