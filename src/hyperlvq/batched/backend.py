"""Where arrays live and what computes on them: numpy, or torch on a device.

numpy 2 and torch share most names and take `axis` alike; a `Backend` has the few that differ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlvq.checks import InputError, check_choice
from hyperlvq.kernels.scores import row_slices

#: Where torch has all that estimators need, double precision for one.
DEVICES = ("cpu", "cuda")
#: What one batch may hold on a machine of two cores.
CPU_BYTES = 600_000_000
#: A block of distances: small enough for the caches of a CPU.
CPU_BLOCK_BYTES = 16_000_000
GPU_BLOCK_BYTES = 12_000_000_000
#: The shares of a GPU's memory that a batch may hold, of what is free, and a block, of all.
GPU_SHARE = 0.3
GPU_BLOCK_SHARE = 0.15
# Work below this many flops takes a GPU less time than starting its kernels.
GPU_SMALL_FLOPS = 1e10
# Looking at what has converged makes the host wait for the GPU.
GPU_TICKS = 8
# Sums over vectors longer than this are shared among the cores of a GPU.
GPU_PIECE = 1000

Array = Any


@dataclass(frozen=True)
class Backend:
    """A namespace of arrays, a device, and how it is used well.

    Vectors are cut into pieces of at least `shortest_piece` for sums, or not at all.
    """

    xp: Any
    device: Any = None
    batch_bytes: int = CPU_BYTES
    block_bytes: int = CPU_BLOCK_BYTES
    small_flops: float = 0.0
    ticks_per_check: int = 1
    shortest_piece: int | None = None

    @property
    def is_torch(self) -> bool:
        """Return whether arrays are torch tensors."""
        return self.xp is not np

    @property
    def kind(self) -> str:
        """Return what kind of device arrays are on: "cpu" or "cuda"."""
        return self.device.type if self.is_torch else "cpu"

    def array(self, values: Any, dtype: str | None = None) -> Array:
        """Return values as an array of this backend, of a dtype by its name."""
        if not self.is_torch:
            return np.asarray(values, dtype=dtype)
        if not isinstance(values, self.xp.Tensor):
            # torch warns of arrays that must not be written to
            values = np.require(values, requirements="W")
        wanted = None if dtype is None else getattr(self.xp, dtype)
        return self.xp.as_tensor(values, dtype=wanted, device=self.device)

    def zeros(self, shape: tuple[int, ...], dtype: str) -> Array:
        """Return zeros."""
        return self.full(shape, 0, dtype)

    def full(self, shape: tuple[int, ...], value: float, dtype: str) -> Array:
        """Return an array of one value."""
        return self.xp.full(shape, value, dtype=getattr(self.xp, dtype), device=self.device)

    def range(self, stop: int) -> Array:
        """Return 0 … stop - 1."""
        return self.xp.arange(stop, device=self.device)

    def cast(self, array: Array, dtype: str) -> Array:
        """Return an array in another dtype; itself if it has that."""
        wanted = getattr(self.xp, dtype)
        return array.to(wanted) if self.is_torch else array.astype(wanted, copy=False)

    def numpy(self, array: Array) -> np.ndarray:
        """Return an array of numpy, on the host."""
        return array.cpu().numpy() if self.is_torch else np.asarray(array)

    def take_along(self, array: Array, index: Array, axis: int) -> Array:
        """Return the entries of an index along an axis, broadcast like `np.take_along_axis`."""
        if self.is_torch:
            return self.xp.take_along_dim(array, index, dim=axis)
        return np.take_along_axis(array, index, axis)

    def put_along(self, array: Array, index: Array, values: Array, axis: int) -> None:
        """Write values to the entries of an index along an axis."""
        if self.is_torch:
            array.scatter_(axis, index, values)
        else:
            np.put_along_axis(array, index, values, axis)

    def put_where(self, array: Array, condition: Array, values: Array) -> None:
        """Write values to where a condition holds."""
        if not self.is_torch:
            np.copyto(array, values, where=condition)
        elif isinstance(values, self.xp.Tensor):
            self.xp.where(condition, values, array, out=array)
        else:
            array.masked_fill_(condition, values)

    def multiply(self, left: Array, right: Array) -> Array:
        """Return the product of matrices in full precision, whatever the rest of the program wants.

        Tensor cores, which a program may have switched on, round a float32 to 11 bits.
        """
        if self.kind != "cuda":
            return left @ right
        switch = self.xp.backends.cuda.matmul
        # Since torch 2.9 the old name must not be read where the new one has been written.
        is_new = hasattr(switch, "fp32_precision")
        name, precise = ("fp32_precision", "ieee") if is_new else ("allow_tf32", False)
        before = getattr(switch, name)
        setattr(switch, name, precise)
        try:
            return left @ right
        finally:
            setattr(switch, name, before)

    def row_slices(self, n_rows: int, row_bytes: int) -> list[slice]:
        """Return slices of rows whose arrays fit in a block of memory."""
        return row_slices(n_rows, max(1, self.block_bytes // row_bytes))

    def wait(self) -> None:
        """Wait until the device has done what it was given, as timings need."""
        if self.kind == "cuda":
            self.xp.cuda.synchronize(self.device)

    def replayed(self, step: Callable[[], None]) -> Callable[[], None]:
        """Return a step to be repeated; a GPU records its kernels once and replays them.

        The step takes its arrays from the same places each time. Its first call, which sets up what
        libraries need, is made here.
        """
        if self.kind != "cuda":
            return step
        cuda = self.xp.cuda
        with cuda.device(self.device):
            stream = cuda.Stream()
            stream.wait_stream(cuda.current_stream())
            with cuda.stream(stream):
                step()
            cuda.current_stream().wait_stream(stream)
            graph = cuda.CUDAGraph()
            with cuda.graph(graph):
                step()
        return graph.replay


def name_of(array: Array) -> str:
    """Return the name of an array's dtype."""
    return str(array.dtype).removeprefix("torch.")


def open_backend(device: str = "cpu") -> Backend:
    """Return the backend of a device: numpy for "cpu", torch for "cuda"."""
    check_choice("device", device, DEVICES)
    if device == "cpu":
        return Backend(np)
    try:
        import torch
    except ImportError:
        raise InputError("device 'cuda' needs torch: pip install 'hyperlvq[torch]'") from None
    if not torch.cuda.is_available():
        raise InputError("device 'cuda' needs an NVIDIA GPU that torch can use; there is none")
    return _cuda_backend(torch, torch.device("cuda"))


def backend_of(tensor: Any) -> Backend:
    """Return the backend of the device that a torch tensor is on."""
    import torch

    device = tensor.device
    return Backend(torch, device) if device.type == "cpu" else _cuda_backend(torch, device)


def _cuda_backend(torch: Any, device: Any) -> Backend:
    free_bytes, all_bytes = torch.cuda.mem_get_info(device)
    free_bytes += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    shares = GPU_BLOCK_SHARE * all_bytes, GPU_SHARE * free_bytes
    return Backend(
        torch,
        device,
        batch_bytes=int(GPU_SHARE * free_bytes),
        # Sums go block by block, so their roundings must not depend on what else is there.
        block_bytes=int(min(GPU_BLOCK_BYTES, *shares)),
        small_flops=GPU_SMALL_FLOPS,
        ticks_per_check=GPU_TICKS,
        shortest_piece=GPU_PIECE,
    )
