"""Compile exported C for the host and for emulated targets, and run its self-test there."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from hyperlvq.export import to_c

TARGETS = Path(__file__).parent / "targets"
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"]
SANITIZERS = ["-fsanitize=undefined,address", "-fno-sanitize-recover=all"]
RESULT = re.compile(r"wrong (\d+) instructions (\d+)")
NAME = "net"


@dataclass(frozen=True)
class Target:
    """A compiler with its options, and the emulator that runs what it makes."""

    name: str
    compiler: tuple[str, ...]
    link: tuple[str, ...]
    run: tuple[str, ...]

    def require(self):
        """Skip the test where a tool is absent."""
        for tool in (self.compiler[0], *self.run[:1]):
            if shutil.which(tool) is None:
                pytest.skip(f"needs {tool}: run tools/install-firmware-tools")


HOST = Target("gcc", ("gcc", "-O2"), (), ())
CLANG = Target("clang", ("clang", "-O2"), (), ())
CORTEX_M3 = Target(
    "cortex_m3",
    ("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-Os"),
    ("-nostartfiles", "--specs=nano.specs", f"-T{TARGETS / 'cortex_m3.ld'}"),
    (
        *("qemu-system-arm", "-M", "mps2-an385", "-nographic", "-monitor", "none"),
        *("-serial", "none", "-semihosting-config", "enable=on,target=native"),
        *("-icount", "shift=0", "-kernel"),
    ),
)
RISCV32 = Target(
    "riscv32",
    ("riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32", "-Os", "--specs=picolibc.specs"),
    (
        *("--crt0=hosted", "--oslib=semihost", "-Wl,--defsym=__flash=0x80000000"),
        *("-Wl,--defsym=__flash_size=4M", "-Wl,--defsym=__ram=0x80400000"),
        *("-Wl,--defsym=__ram_size=4M", "-Wl,--defsym=__stack_size=64K"),
    ),
    (
        *("qemu-system-riscv32", "-M", "virt", "-bios", "none", "-nographic", "-monitor", "none"),
        *("-serial", "none", "-semihosting-config", "enable=on,target=native"),
        *("-icount", "shift=0", "-kernel"),
    ),
)
AVR = Target(
    "avr",
    ("avr-gcc", "-mmcu=atmega1284p", "-Os"),
    (),
    ("simavr", "-m", "atmega1284p", "-f", "16000000"),
)
EMULATED = (CORTEX_M3, RISCV32, AVR)


@dataclass(frozen=True)
class Outcome:
    """What a self-test found: labels that differ, and instructions of all samples together."""

    wrong: int
    instructions: int


def execute(command):
    """Run a command and return its output; its errors are the failure's message."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def export(plan, samples, folder):
    """Write a plan's C and self-test."""
    to_c(plan, folder, vectors=samples)


def compile_object(target, folder, *options, name=NAME):
    """Compile the model alone, with every warning an error, and return the object file."""
    target.require()
    output = folder / f"{name}_{target.name}.o"
    execute([*target.compiler, *WARNINGS, *options, "-c", folder / f"{name}.c", "-o", output])
    return output


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
    port = TARGETS / f"{target.name if target in EMULATED else 'host'}.c"
    includes = [f"-I{folder}", f"-I{TARGETS}"]
    compiler = [*target.compiler, *options, *includes, "-ffunction-sections", "-c"]
    objects = [_compiled([*compiler, *WARNINGS], source, folder) for source in sources]
    # The harness talks to hardware, which takes more than the C99 of the model itself.
    objects += [_compiled(compiler, source, folder) for source in (main, port)]
    program = folder / f"program_{target.name}"
    linker = [*target.compiler, *options, "-Wl,--gc-sections", *target.link]
    execute([*linker, *objects, "-lm", "-o", program])
    return execute([*target.run, program])


def _compiled(compiler, source, folder):
    output = folder / f"{source.stem}.o"
    execute([*compiler, source, "-o", output])
    return output
