"""Measure what exported C costs on a target: linked flash, stack and instructions.

Flash is what a firmware grows by when it calls the model: the least program that calls it, linked
with --gc-sections, less the same program without the call. Instructions are counted by a plugin
of qemu, exactly and in the same way on all targets, from the call to the return.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from export.firmware import (
    AVR,
    CORTEX_M3,
    COUNTING,
    RISCV32,
    TARGETS,
    Target,
    compiled,
    execute,
    linked,
    require_tools,
    section_bytes,
)

from hyperlvq.export import to_c
from hyperlvq.export.ctext import value_literals

OPTIONS = ("-std=c99", "-Os")
N_SAMPLES = 8
SMALL_AVR = replace(AVR, compiler=("avr-gcc", "-mmcu=atmega328p"))
#: The same instructions, and memory for the samples.
LARGE_AVR = replace(
    AVR,
    compiler=("avr-gcc", "-mmcu=atmega1280"),
    # Longer blocks hang qemu 7.2 where a return is skipped.
    run=(
        *("qemu-system-avr", "-M", "mega", "-nographic", "-monitor", "none"),
        *("-serial", "none", "-singlestep", "-bios"),
    ),
)


@dataclass(frozen=True)
class Board:
    """The target of a firmware, start-up files if any, and where its instructions are counted."""

    target: Target
    counting: Target
    ports: tuple[Path, ...] = ()


def _without_count(target):
    """Leave out what a plugin that counts does not need."""
    return replace(target, run=tuple(word for word in target.run if word not in COUNTING))


BOARDS = {
    "cortex-m3": Board(CORTEX_M3, _without_count(CORTEX_M3), (CORTEX_M3.port,)),
    "riscv32": Board(RISCV32, _without_count(RISCV32)),
    "avr": Board(SMALL_AVR, LARGE_AVR),
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
    board = BOARDS[target]
    require_tools(board.target.compiler[0], board.counting.run[0], "gcc")
    to_c(plan, folder)
    return compiled(board.target, folder / "net.c", folder, *OPTIONS, "-fstack-usage")


def linked_flash(target, model):
    """Return by how many bytes a firmware grows when it calls the model."""
    return _image_bytes(BOARDS[target], [model], model.parent) - bare_image(target)


@cache
def bare_image(target):
    """Return the bytes of flash of the caller without a model."""
    return _image_bytes(BOARDS[target], [], Path(mkdtemp()), "-DWITHOUT_MODEL")


def _image_bytes(board, objects, folder, *options):
    caller = compiled(board.target, TARGETS / "caller.c", folder, *OPTIONS, *options)
    text, data, _ = section_bytes(board.target, _linked(board, board.target, [*objects, caller]))
    return text + data


def _linked(board, target, objects):
    folder = objects[-1].parent
    ports = [compiled(target, port, folder, *OPTIONS) for port in board.ports]
    return linked(target, [*objects, *ports], folder, *OPTIONS)


def used_stack(model):
    """Return the stack of a prediction: the model's function and the deepest one it calls."""
    frames = function_frames(model)
    predict = frames.pop("net_predict")
    # What these two call may be a part of them; all others call nothing.
    for caller, called in (("net_encode", "net_signs"), ("net_add_scores", "net_dot")):
        frames[caller] = frames.get(caller, 0) + frames.pop(called, 0)
    return predict + max(frames.values())


def function_frames(model):
    """Return the bytes of stack of each function that was compiled with -fstack-usage."""
    rows = [line.split("\t") for line in model.with_suffix(".su").read_text().splitlines()]
    # A clone is called NAME.constprop.0 or the like.
    return {row[0].split(":")[-1].split(".")[0]: int(row[1]) for row in rows}


def counted_instructions(plan, samples, target, model):
    """Return the mean number of instructions from the call of a prediction to its return."""
    board, folder = BOARDS[target], model.parent
    values = plan.values(samples[:N_SAMPLES])
    array = f"net_value samples[{len(values)}][NET_FEATURES]"
    text = f'#include "net.h"\n{array};\n{array} = {{\n{c_rows(values)}\n}};\n'
    (folder / "samples.c").write_text(text)
    is_same = board.counting.compiler == board.target.compiler
    sources = [] if is_same else [folder / "net.c"]
    sources += [folder / "samples.c", TARGETS / "counted.c"]
    options = (*OPTIONS, f"-DSAMPLES={len(values)}")
    objects = [compiled(board.counting, source, folder, *options) for source in sources]
    program = _linked(board, board.counting, ([model] if is_same else []) + objects)
    return _count(board.counting, program, len(values))


def c_rows(values):
    """Return the rows of a C array."""
    return ",\n".join(f"{{{', '.join(value_literals(row))}}}" for row in values)


def _count(target, program, n_samples):
    rows = [line.split() for line in execute([target.tool("nm"), program]).splitlines()]
    addresses = {row[-1]: int(row[0], 16) for row in rows if len(row) == 3}
    marks = f"begin={addresses['begin']:#x},end={addresses['end']:#x},passes={n_samples}"
    emulator, *options = target.run
    output = execute([emulator, "-plugin", f"{_plugin()},{marks}", *options, program])
    return int(re.search(r"instructions (\d+)", output)[1]) / n_samples


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
