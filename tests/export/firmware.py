"""Compile exported C for the host and for emulated targets, and run it there.

Tests use it, and bench/firmware.py and bench/calibrate_budget.py.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

TARGETS = Path(__file__).parent / "targets"
WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
SANITIZERS = ("-fsanitize=undefined,address", "-fno-sanitize-recover=all")
SEMIHOSTING = (
    *("-nographic", "-monitor", "none", "-serial", "none"),
    *("-semihosting-config", "enable=on,target=native", "-kernel"),
)
#: What lets the targets below count their own instructions.
COUNTING = ("-icount", "shift=0")
RESULT = re.compile(r"wrong (\d+) instructions (\d+)")
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
        """Skip the test where a tool is absent."""
        require_tools(self.compiler[0], *self.run[:1])

    def tool(self, name):
        """Return a tool that comes with the compiler."""
        return self.compiler[0].replace("gcc", name)


HOST = Target("gcc", ("gcc", "-O2"))
CLANG = Target("clang", ("clang", "-O2"))
CORTEX_M3 = Target(
    "cortex_m3",
    ("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-Os"),
    ("-nostartfiles", "--specs=nano.specs", f"-T{TARGETS / 'cortex_m3.ld'}"),
    ("qemu-system-arm", *COUNTING, "-M", "mps2-an385", *SEMIHOSTING),
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
    ("qemu-system-riscv32", *COUNTING, "-M", "virt", "-bios", "none", *SEMIHOSTING),
    TARGETS / "riscv32.c",
)
AVR = Target(
    "avr",
    ("avr-gcc", "-mmcu=atmega1284p", "-Os"),
    run=("simavr", "-m", "atmega1284p", "-f", "16000000"),
    port=TARGETS / "avr.c",
)
EMULATED = (CORTEX_M3, RISCV32, AVR)


@dataclass(frozen=True)
class Outcome:
    """What a self-test found: labels that differ, and instructions of all samples together."""

    wrong: int
    instructions: int


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
    """Compile a source and return the object file."""
    output = folder / f"{source.stem}.o"
    includes = (f"-I{folder}", f"-I{TARGETS}")
    execute([*target.compiler, *options, *includes, "-c", source, "-o", output], seconds=3600)
    return output


def linked(target, objects, folder, *options):
    """Link object files and return the program."""
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


def self_test(target, folder, *options, name=NAME):
    """Build and run the self-test of a model on a target."""
    defines = [f"-DMODEL_selftest={name}_selftest", f"-D{name.upper()}_NO_MAIN"]
    sources = [folder / f"{name}.c", folder / f"{name}_selftest.c"]
    output = run_program(target, folder, sources, TARGETS / "main.c", *options, *defines)
    found = RESULT.search(output)
    assert found, f"{target.name} reported nothing: {output}"
    return Outcome(int(found[1]), int(found[2]))


def run_program(target, folder, sources, main, *options):
    """Compile sources with every warning an error, link them with a main, and run it."""
    target.require()
    options = (*options, "-ffunction-sections")
    objects = [compiled(target, source, folder, *options, *WARNINGS) for source in sources]
    # The harness talks to hardware, which takes more than the C99 of the model itself.
    objects += [compiled(target, source, folder, *options) for source in (main, target.port)]
    return execute([*target.run, linked(target, objects, folder, *options)])
