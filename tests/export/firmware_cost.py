"""Measure what exported C costs on a target: linked flash, stack and instructions.

Flash is what a firmware grows by when it calls the model: the least program that calls it, linked
with --gc-sections, less the same program without the call. Instructions are counted by a plugin
of qemu, exactly and in the same way on all targets, from the call to the return.
"""

import re
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from export.firmware import AVR, CORTEX_M3, RISCV32, TARGETS, execute

from hyperlvq.export import to_c
from hyperlvq.export.ctext import float_literal, integer_literal

OPTIONS = ("-std=c99", "-Os")
N_SAMPLES = 8


@dataclass(frozen=True)
class Board:
    """How a target's firmware is built, and which qemu counts its instructions."""

    compiler: tuple[str, ...]
    link: tuple[str, ...]
    ports: tuple[Path, ...]
    counting_compiler: tuple[str, ...]
    qemu: tuple[str, ...]

    def require(self):
        """Skip the test where a tool is absent."""
        for tool in (self.compiler[0], self.qemu[0], "gcc"):
            if shutil.which(tool) is None:
                pytest.skip(f"needs {tool}: run tools/install-firmware-tools")

    def tool(self, name):
        """Return the path of a tool that comes with the compiler."""
        return self.compiler[0].replace("gcc", name)


def _without_count(command):
    """Leave out -icount, which a plugin that counts does not need."""
    return tuple(word for word in command if word not in ("-icount", "shift=0"))


BOARDS = {
    "cortex-m3": Board(
        CORTEX_M3.compiler,
        CORTEX_M3.link,
        (TARGETS / "cortex_m3.c",),
        CORTEX_M3.compiler,
        _without_count(CORTEX_M3.run),
    ),
    "riscv32": Board(
        RISCV32.compiler, RISCV32.link, (), RISCV32.compiler, _without_count(RISCV32.run)
    ),
    "avr": Board(
        (AVR.compiler[0], "-mmcu=atmega328p"),
        (),
        (),
        # The same instructions, and memory for the samples.
        (AVR.compiler[0], "-mmcu=atmega1280"),
        (
            *("qemu-system-avr", "-M", "mega", "-nographic", "-monitor", "none"),
            # Longer blocks hang qemu 7.2 where a return is skipped.
            *("-serial", "none", "-singlestep", "-bios"),
        ),
    ),
}


@dataclass(frozen=True)
class Cost:
    """Bytes of linked flash and of stack, and instructions of a prediction."""

    flash: int
    stack: int
    instructions: float


def cost(plan, samples, target, folder):
    """Return the cost of a plan, named net, on a target."""
    model = exported(plan, target, folder)
    return Cost(
        linked_flash(target, model),
        used_stack(model),
        counted_instructions(plan, samples, target, model),
    )


def exported(plan, target, folder):
    """Write a plan, named net, and return its object file for a target."""
    BOARDS[target].require()
    to_c(plan, folder)
    return _compiled(BOARDS[target].compiler, folder / "net.c", folder, "-fstack-usage")


def linked_flash(target, model):
    """Return by how many bytes a firmware grows when it calls the model."""
    board, folder = BOARDS[target], model.parent
    caller = _compiled(board.compiler, TARGETS / "caller.c", folder)
    return _image_bytes(board, [model, caller], folder) - bare_image(target)


@cache
def bare_image(target):
    """Return the bytes of flash of the caller without a model."""
    board, folder = BOARDS[target], Path(mkdtemp())
    caller = _compiled(board.compiler, TARGETS / "caller.c", folder, "-DWITHOUT_MODEL")
    return _image_bytes(board, [caller], folder)


def _image_bytes(board, objects, folder):
    program = _linked(board.compiler, board, objects, folder)
    text, data = execute([board.tool("size"), program]).splitlines()[1].split()[:2]
    return int(text) + int(data)


def _compiled(compiler, source, folder, *options):
    output = folder / f"{source.stem}.o"
    execute([*compiler, *OPTIONS, *options, f"-I{folder}", "-c", source, "-o", output])
    return output


def _linked(compiler, board, objects, folder):
    command = [*compiler, *OPTIONS, "-Wl,--gc-sections", f"-I{TARGETS}", *board.link]
    execute([*command, *objects, *board.ports, "-o", folder / "program"])
    return folder / "program"


def used_stack(model):
    """Return the stack of a prediction: the model's function and the deepest one it calls."""
    rows = [line.split("\t") for line in model.with_suffix(".su").read_text().splitlines()]
    # A clone is called NAME.constprop.0 or the like.
    frames = {row[0].split(":")[-1].split(".")[0]: int(row[1]) for row in rows}
    predict = frames.pop("net_predict")
    # What these two call may be a part of them; all others call nothing.
    for caller, called in (("net_encode", "net_signs"), ("net_add_scores", "net_dot")):
        frames[caller] = frames.get(caller, 0) + frames.pop(called, 0)
    return predict + max(frames.values())


def counted_instructions(plan, samples, target, model):
    """Return the mean number of instructions from the call of a prediction to its return."""
    board, folder = BOARDS[target], model.parent
    values = plan.values(samples[:N_SAMPLES])
    (folder / "samples.c").write_text(_samples_text(plan, values))
    sources = [folder / "samples.c", TARGETS / "counted.c"]
    if board.counting_compiler == board.compiler:
        objects = [model]
    else:
        objects, sources = [], [folder / "net.c", *sources]
    n_samples = f"-DSAMPLES={len(values)}"
    objects += [_compiled(board.counting_compiler, file, folder, n_samples) for file in sources]
    return _count(board, _linked(board.counting_compiler, board, objects, folder), len(values))


def _count(board, program, n_samples):
    addresses = _addresses(board, program)
    marks = f"begin={addresses['begin']:#x},end={addresses['end']:#x},passes={n_samples}"
    plugin = ["-plugin", f"{_plugin()},{marks}"]
    output = execute([board.qemu[0], *plugin, *board.qemu[1:], program])
    return int(re.search(r"instructions (\d+)", output)[1]) / n_samples


def _samples_text(plan, values):
    literal = float_literal if plan.input == "float" else integer_literal
    rows = ",\n".join(f"{{{', '.join(map(literal, row))}}}" for row in values)
    return (
        f'#include "net.h"\nnet_value samples[{len(values)}][NET_FEATURES];\n'
        f"net_value samples[{len(values)}][NET_FEATURES] = {{\n{rows}\n}};\n"
    )


def _addresses(board, program):
    rows = [line.split() for line in execute([board.tool("nm"), program]).splitlines()]
    return {row[-1]: int(row[0], 16) for row in rows if len(row) == 3}


@cache
def _plugin():
    library = Path(mkdtemp()) / "count_instructions.so"
    source = TARGETS / "count_instructions.c"
    execute(["gcc", "-O2", "-shared", "-fPIC", source, "-o", library])
    return library


def samples_within(plan, n_samples=N_SAMPLES, seed=0):
    """Return samples spread evenly over the training range of every feature."""
    low, high = plan.feature_ranges.T
    shares = np.random.default_rng(seed).uniform(size=(n_samples, plan.n_features))
    return low + shares * (high - low)
