"""How a plan lies in a device's memory, and how wide its integers must be.

A sum h of signs is 2c - K with c the count of positive ones, and the device keeps
u = (h + κ)/step, which is 0 or more: with κ and K both even or both odd, every h + κ is even
before clipping and after it, and the step is 2; else it is 1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hyperlvq.export.plan import Plan

BLOCK_UNITS = 32
PACKED_UNITS = 4
#: Added to 8-bit weights, which makes them unsigned and all scores of a sample equally larger.
WEIGHT_OFFSET = 128
#: Fewer words than this between two carries would cost more than packing gains.
FEWEST_WORDS = 2
MOST_WORDS = BLOCK_UNITS // PACKED_UNITS


@dataclass(frozen=True, eq=False)
class Layout:
    """The tables of a plan and the numbers its C is written with.

    A device that `learns` keeps activations as they are, one by one, and has no weights in flash.
    """

    plan: Plan
    learns: bool = False

    @cached_property
    def is_odd(self) -> bool:
        """Whether sums and limits differ in parity, so that a clipped sum ends a step of 1."""
        return (self.plan.n_features - self.plan.limit) % 2 == 1

    @property
    def clips(self) -> bool:
        """Whether any sum can exceed the limit."""
        return self.plan.limit < self.plan.n_features

    @property
    def first_count(self) -> int:
        """Where counters start, so that 0 stands for the lowest activation."""
        return (self.plan.limit - self.plan.n_features - self.is_odd) // 2

    @property
    def n_planes(self) -> int:
        """Bits of a counter, with its sign where it can be negative."""
        highest = self.plan.n_features + self.first_count
        if not self.clips:
            return highest.bit_length()
        return 1 + max(highest.bit_length(), (-self.first_count - 1).bit_length())

    @property
    def n_kept_planes(self) -> int:
        """Bits of a clipped counter."""
        return self.plan.limit.bit_length()

    @property
    def highest_activation(self) -> int:
        """The largest u."""
        return 2 * self.plan.limit if self.is_odd else self.plan.limit

    @property
    def step(self) -> int:
        """What one unit of u times one of a weight adds to a score."""
        return self.plan.factor * (1 if self.is_odd else 2)

    @property
    def words_per_carry(self) -> int:
        """How many words of packed products can be added in 16 bits: 8, 4, 2, 1 or 0."""
        word = PACKED_UNITS * 255 * self.highest_activation
        return max((n for n in (1, 2, 4, MOST_WORDS) if n * word < 2**16), default=0)

    @property
    def is_packed(self) -> bool:
        """Whether four activations, and four weights, are multiplied as one word."""
        fits = self.plan.bits == 8 and self.words_per_carry >= FEWEST_WORDS
        return fits and not self.learns

    @property
    def padded_units(self) -> int:
        """Units that have weights in flash: whole words of them where they are packed."""
        return self.plan.n_units + (-self.plan.n_units % PACKED_UNITS if self.is_packed else 0)

    @property
    def n_blocks(self) -> int:
        """Number of blocks of 32 units, the last one perhaps in part."""
        return -(-self.plan.n_units // BLOCK_UNITS)

    @cached_property
    def keys(self) -> np.ndarray:
        """The signs as words of 32 units (blocks × features, uint32)."""
        n_bytes = self.n_blocks * BLOCK_UNITS // 8
        padded = np.zeros((self.plan.n_features, n_bytes), dtype=np.uint8)
        padded[:, : self.plan.packed_keys.shape[1]] = self.plan.packed_keys
        return padded.view("<u4").T

    @cached_property
    def stored_weights(self) -> np.ndarray:
        """The weights as the device multiplies them (outputs × padded units, int64)."""
        offset = WEIGHT_OFFSET if self.plan.bits == 8 else 0
        stored = np.zeros((self.plan.n_outputs, self.padded_units), dtype=np.int64)
        stored[:, : self.plan.n_units] = self.plan.weights.astype(np.int64) + offset
        return stored

    @cached_property
    def weights(self) -> np.ndarray:
        """The weights in the order of flash, block by block and packed where they are."""
        blocks = [
            self.stored_weights[:, first : first + BLOCK_UNITS].ravel()
            for first in range(0, self.padded_units, BLOCK_UNITS)
        ]
        weights = np.concatenate(blocks)
        return weights.astype(np.uint8).view("<u4") if self.is_packed else weights

    @cached_property
    def biases(self) -> np.ndarray:
        """What is taken off scores: the plan's bias, and κ for every activation."""
        weight_sums = self.plan.weights.sum(axis=1, dtype=np.int64)
        return self.plan.biases + self.plan.factor * self.plan.limit * weight_sums

    @property
    def score_bits(self) -> int:
        """32 where no score, nor a part of its sum, can leave that many bits; else 64."""
        largest = np.abs(self.stored_weights).sum(axis=1) * self.highest_activation * self.step
        return 32 if (largest + np.abs(self.biases)).max() < 2**31 else 64

    @property
    def largest_dot(self) -> int:
        """The largest product of activations and weights over a block."""
        return BLOCK_UNITS * self.highest_activation * (255 if self.plan.bits == 8 else 2**15 - 1)

    @property
    def table_bytes(self) -> dict[str, int]:
        """Bytes of each constant table but the scaling's."""
        plan = self.plan
        return {
            "keys": 4 * self.keys.size,
            "weights": self.stored_weights.size * plan.bits // 8,
            "biases": plan.n_outputs * self.score_bits // 8,
        }
