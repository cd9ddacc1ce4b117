"""Compile exported C for the host and for emulated targets, run it there, measure what it costs.

Tests use it, and bench/firmware.py and bench/calibrate_budget.py.

Flash is what a firmware grows by when it calls the model: the least program that calls it, linked
with --gc-sections, less the same program without the call. Instructions are counted by a plugin
of qemu, exactly and in the same way on all targets, from the call to the return.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from hyperlvq.export import to_c
from hyperlvq.export.c_source import value_literals

TARGETS = Path(__file__).parent / "targets"
WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
SEMIHOSTING = (
    *("-nographic", "-monitor", "none", "-serial", "none"),
    *("-semihosting-config", "enable=on,target=native", "-kernel"),
)
NAME = "net"


@dataclass(frozen=True)
class Target:
    """A compiler with its options, the emulator that runs what it makes, and the start-up file."""

    name: str
    compiler: tuple[str, ...]
    link: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    port: Path = TARGETS / "host.c"

    def require(self):
        require_tools(self.compiler[0], *self.run[:1])

    def __str__(self):
        return self.name

    def tool(self, name):
        return self.compiler[0].replace("gcc", name)


HOST = Target("gcc", ("gcc", "-O2"))
SANITIZED = Target(
    "sanitizers", (*HOST.compiler, "-fsanitize=undefined,address", "-fno-sanitize-recover=all")
)
CLANG = Target("clang", ("clang", "-O2"))
CORTEX_M3 = Target(
    "cortex_m3",
    ("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-Os"),
    ("-nostartfiles", "--specs=nano.specs", f"-T{TARGETS / 'cortex_m3.ld'}"),
    # With -icount, the port can count instructions, for bench/firmware.py.
    ("qemu-system-arm", "-icount", "shift=0", "-M", "mps2-an385", *SEMIHOSTING),
    TARGETS / "cortex_m3.c",
)
RISCV32 = Target(
    "riscv32",
    ("riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32", "-Os", "--specs=picolibc.specs"),
    (
        *("--crt0=hosted", "--oslib=semihost", "-Wl,--defsym=__flash=0x80000000"),
        *("-Wl,--defsym=__flash_size=4M", "-Wl,--defsym=__ram=0x80400000"),
        *("-Wl,--defsym=__ram_size=4M", "-Wl,--defsym=__stack_size=64K"),
    ),
    ("qemu-system-riscv32", "-M", "virt", "-bios", "none", *SEMIHOSTING),
    TARGETS / "riscv32.c",
)
AVR = Target(
    "avr",
    ("avr-gcc", "-mmcu=atmega1284p", "-Os"),
    run=("simavr", "-m", "atmega1284p", "-f", "16000000"),
    port=TARGETS / "avr.c",
)
EMULATED = (CORTEX_M3, RISCV32, AVR)
#: Where RAM is enough to learn.
LEARNING = (HOST, SANITIZED, CLANG, CORTEX_M3, RISCV32)


def on_every(targets):
    return pytest.mark.parametrize("target", targets, ids=str)


def require_tools(*tools):
    """Skip the test where a tool is absent."""
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}: run tools/install-firmware-tools")


def execute(command, seconds=120):
    """Run a command and return its output; its errors are the failure's message."""
    command = list(map(str, command))
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def compiled(target, source, folder, *options):
    output = folder / f"{source.stem}.o"
    includes = (f"-I{folder}", f"-I{TARGETS}")
    execute([*target.compiler, *options, *includes, "-c", source, "-o", output], seconds=3600)
    return output


def linked(target, objects, folder, *options):
    program = folder / "program"
    linker = [*target.compiler, *options, "-Wl,--gc-sections", *target.link]
    execute([*linker, *objects, "-lm", "-o", program])
    return program


def section_bytes(target, file):
    """Return the bytes of text, data and bss."""
    lines = execute([target.tool("size"), file]).splitlines()
    return tuple(map(int, lines[1].split()[:3]))


def compile_object(target, folder, *options, name=NAME):
    """Compile the model alone, with every warning an error, and return the object file."""
    target.require()
    return compiled(target, folder / f"{name}.c", folder, *WARNINGS, *options)


def self_test(target, folder, *options):
    """Build and run the self-test of a model on a target; return how many labels differ."""
    defines = [f"-DMODEL_selftest={NAME}_selftest", f"-D{NAME.upper()}_NO_MAIN"]
    sources = [folder / f"{NAME}.c", folder / f"{NAME}_selftest.c"]
    output = run_program(target, folder, sources, TARGETS / "main.c", *options, *defines)
    found = re.search(r"wrong (\d+)", output)
    assert found, f"{target.name} reported nothing: {output}"
    return int(found[1])


def run_program(target, folder, sources, main, *options):
    """Compile sources with every warning an error, link them with a main, and run it."""
    target.require()
    options = (*options, "-ffunction-sections")
    objects = [compiled(target, source, folder, *options, *WARNINGS) for source in sources]
    # The harness talks to hardware, which takes more than the C99 of the model itself.
    objects += [compiled(target, source, folder, *options) for source in (main, target.port)]
    return execute([*target.run, linked(target, objects, folder, *options)])


OPTIONS = ("-std=c99", "-Os")
N_SAMPLES = 8


@dataclass(frozen=True)
class Board:
    """The target of a firmware, and where its instructions are counted."""

    target: Target
    counting: Target
    ports: tuple[Path, ...] = ()


BOARDS = {
    "cortex-m3": Board(
        CORTEX_M3,
        replace(CORTEX_M3, run=("qemu-system-arm", "-M", "mps2-an385", *SEMIHOSTING)),
        (CORTEX_M3.port,),
    ),
    "riscv32": Board(RISCV32, RISCV32),
    "avr": Board(
        replace(AVR, compiler=("avr-gcc", "-mmcu=atmega328p")),
        # The same instructions, and memory for the samples.
        replace(
            AVR,
            compiler=("avr-gcc", "-mmcu=atmega1280"),
            # Longer blocks hang qemu 7.2 where a return is skipped.
            run=(
                *("qemu-system-avr", "-M", "mega", "-nographic", "-monitor", "none"),
                *("-serial", "none", "-singlestep", "-bios"),
            ),
        ),
    ),
}


@dataclass(frozen=True)
class Cost:
    """Bytes of linked flash and of stack, and instructions of a prediction."""

    flash: int
    stack: int
    instructions: float


def cost(plan, target, folder):
    """Return the cost of a plan, named net, on a target."""
    board = BOARDS[target]
    require_tools(board.target.compiler[0], board.counting.run[0], "gcc")
    to_c(plan, folder)
    model = compiled(board.target, folder / "net.c", folder, *OPTIONS, "-fstack-usage")
    flash = _image_bytes(board, [model], folder) - bare_image(target)
    return Cost(flash, _used_stack(model), _counted_instructions(plan, board, model))


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


def _used_stack(model):
    frames = function_frames(model)
    predict = frames.pop("net_predict")
    # What these two call may be a part of them; all others call nothing.
    for caller, called in (("net_encode", "net_signs"), ("net_add_scores", "net_dot")):
        frames[caller] = frames.get(caller, 0) + frames.pop(called, 0)
    return predict + max(frames.values(), default=0)


def function_frames(model):
    """Return the bytes of stack of each function that was compiled with -fstack-usage."""
    rows = [line.split("\t") for line in model.with_suffix(".su").read_text().splitlines()]
    # A clone is called NAME.constprop.0 or the like.
    return {row[0].split(":")[-1].split(".")[0]: int(row[1]) for row in rows}


def _counted_instructions(plan, board, model):
    folder, target = model.parent, board.counting
    array = f"net_value samples[{N_SAMPLES}][NET_FEATURES]"
    rows = c_rows(plan.values(samples_within(plan)))
    (folder / "samples.c").write_text(f'#include "net.h"\n{array};\n{array} = {{\n{rows}\n}};\n')
    is_same = target.compiler == board.target.compiler
    sources = ([] if is_same else [folder / "net.c"]) + [folder / "samples.c"]
    options = (*OPTIONS, f"-DSAMPLES={N_SAMPLES}")
    objects = [
        compiled(target, source, folder, *options) for source in (*sources, TARGETS / "counted.c")
    ]
    program = _linked(board, target, ([model] if is_same else []) + objects)
    rows = [line.split() for line in execute([target.tool("nm"), program]).splitlines()]
    addresses = {row[-1]: int(row[0], 16) for row in rows if len(row) == 3}
    marks = f"begin={addresses['begin']:#x},end={addresses['end']:#x},passes={N_SAMPLES}"
    emulator, *others = target.run
    output = execute([emulator, "-plugin", f"{_plugin()},{marks}", *others, program])
    return int(re.search(r"instructions (\d+)", output)[1]) / N_SAMPLES


@cache
def _plugin():
    library = Path(mkdtemp()) / "count_instructions.so"
    source = TARGETS / "count_instructions.c"
    execute(["gcc", "-O2", "-shared", "-fPIC", source, "-o", library])
    return library


def c_rows(values):
    return ",\n".join(f"{{{', '.join(value_literals(row))}}}" for row in values)


def samples_within(plan):
    """Return samples spread evenly over the range of every feature that has one."""
    low, high = np.nan_to_num(plan.feature_ranges).T
    shares = np.random.default_rng(0).uniform(size=(N_SAMPLES, plan.n_features))
    return low + shares * (high - low)
