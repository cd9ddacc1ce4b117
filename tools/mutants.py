"""Draw mutants of the source at random and list those that no test notices.

    python tools/mutants.py src/hyperlvq/kernels src/hyperlvq/models.py --number 20 --seed 0

A mutant is the source with one place changed: an operator, a number, a condition, a result, or a
statement left out. Its tests run in stages until one fails: those that mirror its module (and the
examples in it), those that mirror its folder, all of them. They run in a copy of the tree, and
without the collection. Annotations, decorators and texts are not mutated.

Each outcome is appended to a file as it comes. Mutants that the file has are not run again, unless
`--retry` asks for those that survived.
"""

import argparse
import ast
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, count, pairwise
from pathlib import Path
from shutil import copytree, ignore_patterns

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/hyperlvq")
STAGES = ("module", "folder", "suite")
NOTHING_FAILED = (0, 5)  # pytest's exit codes for tests that passed, and for none at all
MEASURES_NOTHING = "not compiled"  # times differ on a busy machine, with or without a mutant
LEAST_LIMIT = 60  # seconds
TIMES_USUAL = 5  # a mutant may take so many times as long as the source itself
NOT_COPIED = (".*", "build", "dist", "__pycache__")

#: What is looked for between two operands, and what replaces it.
OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "/"),
    ast.Div: ("/", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: (r"\|", "&"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
PAIRS = (("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"))
NAMES = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}
NOT_MUTATED = ("annotation", "returns", "decorator_list")
#: Results that no caller tells from None; False has a mutant of its own.
FALSE = ("None", "False")
#: Arguments by name that change how a result is made or shown, but not the result.
SAME_RESULTS = ("strict", "copy", "stacklevel", "check_finite", "overwrite_a", "overwrite_b")


@dataclass(frozen=True)
class Mutant:
    """Bytes of a file, and what stands there instead."""

    path: Path
    start: int
    end: int
    replacement: str

    def text(self) -> bytes:
        """Return the whole file, changed."""
        original = (ROOT / self.path).read_bytes()
        return original[: self.start] + self.replacement.encode() + original[self.end :]

    def description(self) -> dict[str, str | int]:
        """Return where it is, and its lines before and after."""
        original, changed = (ROOT / self.path).read_bytes(), self.text()
        first = original.rfind(b"\n", 0, self.start) + 1
        n_after = len(original) - original.find(b"\n", self.end)
        old, new = (
            " ".join(text[first : len(text) - n_after].decode().split())
            for text in (original, changed)
        )
        line = original.count(b"\n", 0, self.start) + 1
        return {"path": str(self.path), "line": line, "old": old, "new": new}


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield all mutants of a file."""
    source = (ROOT / path).read_bytes()
    line_starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]

    def place(node: ast.expr | ast.stmt) -> tuple[int, int]:
        end_line, end_column = node.end_lineno or 0, node.end_col_offset or 0
        start = line_starts[node.lineno - 1] + node.col_offset  # columns count bytes
        return start, line_starts[end_line - 1] + end_column

    def instead(node: ast.expr | ast.stmt, replacement: str) -> Mutant:
        return Mutant(path, *place(node), replacement)

    def other_operators(
        operators: Sequence[ast.AST], operands: Sequence[ast.expr]
    ) -> Iterator[Mutant]:
        for operator, (left, right) in zip(operators, pairwise(operands), strict=True):
            old, new = OPERATORS.get(type(operator), ("", ""))
            start = place(left)[1]
            found = re.search(old.encode(), source[start : place(right)[0]])
            if old and found:
                yield Mutant(path, start + found.start(), start + found.end(), new)

    def negated(condition: ast.expr) -> Iterator[Mutant]:
        match condition:
            case ast.UnaryOp(op=ast.Not()):
                return  # a mutant of its own
            case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn()]):
                return
            case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
                return
        start, end = place(condition)
        yield instead(condition, f"(not ({source[start:end].decode()}))")

    for node in mutable_nodes(ast.parse(source)):
        match node:
            case ast.Compare():
                yield from other_operators(node.ops, [node.left, *node.comparators])
            case ast.BoolOp():
                yield from other_operators([node.op] * (len(node.values) - 1), node.values)
            case ast.BinOp():
                yield from other_operators([node.op], [node.left, node.right])
            case ast.AugAssign():
                yield from other_operators([node.op], [node.target, node.value])
            case ast.UnaryOp(op=ast.Not()):
                start, _ = place(node)
                yield Mutant(path, start, start + len("not "), "")
            case ast.Constant(value=bool()):
                yield instead(node, str(not node.value))
            case ast.Constant(value=int() | float() as number):
                yield instead(node, repr(number + 1))
            case ast.Name(ctx=ast.Load()) if node.id in NAMES:
                yield instead(node, NAMES[node.id])
            case ast.Attribute(ctx=ast.Load()) if node.attr in NAMES:
                _, end = place(node)
                yield Mutant(path, end - len(node.attr), end, NAMES[node.attr])
            case ast.Return(value=ast.expr() as value) if ast.unparse(value) not in FALSE:
                yield instead(value, "None")
            case ast.If() | ast.IfExp():
                yield from negated(node.test)
            case ast.comprehension():
                for condition in node.ifs:
                    yield from negated(condition)
            case ast.Raise() | ast.Expr(value=ast.Call()):
                yield instead(node, "pass")


def mutable_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and those below it, less what no test can or should notice."""
    match node:
        case ast.JoinedStr() | ast.FunctionDef(name="__repr__"):
            return
        case ast.keyword(arg=str() as name) if name in SAME_RESULTS:
            return
        case ast.If() if ast.unparse(node.test) in ("TYPE_CHECKING", "__name__ == '__main__'"):
            return
    yield node
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in NOT_MUTATED:
                yield from mutable_nodes(child)


def draw_mutants(paths: list[Path], number: int, seed: int) -> list[Mutant]:
    """Return so many mutants of files and folders, or all if there are fewer."""
    files = {file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])}
    names = sorted(file.resolve().relative_to(ROOT) for file in files)
    found = [mutant for name in names for mutant in mutants_of(name)]
    return random.Random(seed).sample(found, min(number, len(found)))


class Tree:
    """A copy of the tree, whose files may be changed and whose tests may be run."""

    def __init__(self, folder: Path):
        self.root, self.cache = folder / "tree", folder / "numba"
        copytree(ROOT, self.root, ignore=ignore_patterns(*NOT_COPIED))
        self.stamps = count(step=10**9)  # nanoseconds
        self.usual_seconds = cache(self._usual_seconds)

    def tests_of(self, path: Path, stage: str) -> tuple[str, ...]:
        """Return what pytest runs for a mutated file at a stage; nothing stands for all."""
        if stage == "suite":
            return ()
        folder = Path("tests") / path.parent.relative_to(SOURCE)
        names = {"module": f"test_{path.stem}.py", "folder": "test_*.py"}
        tests = (self.root / folder).glob(names[stage])
        return (str(path), *sorted(str(test.relative_to(self.root)) for test in tests))

    def killing_stage(self, mutant: Mutant, stages: list[str]) -> str | None:
        """Return the first stage whose tests notice a mutant; too long a time counts as that."""
        file = self.root / mutant.path
        original, usual_stamp = file.read_bytes(), file.stat().st_mtime_ns
        for stage in stages:
            tests = self.tests_of(mutant.path, stage)
            limit = max(LEAST_LIMIT, TIMES_USUAL * self.usual_seconds(tests))
            # A compiled function may hold the code of another file.
            is_compiled = "kernels" in mutant.path.parts
            file.write_bytes(mutant.text())
            os.utime(file, ns=(next(self.stamps),) * 2)  # lest Python takes it for another one
            try:
                if self._run(tests, limit, fresh_cache=is_compiled) not in NOTHING_FAILED:
                    return stage
            finally:
                file.write_bytes(original)
                os.utime(file, ns=(usual_stamp,) * 2)
        return None

    def _usual_seconds(self, tests: tuple[str, ...]) -> float:
        """Return how long tests take that must pass, lest every mutant seem noticed."""
        start = time.monotonic()
        if self._run(tests) not in NOTHING_FAILED:
            raise SystemExit(f"without a mutant, these tests fail: {' '.join(tests) or 'all'}")
        return time.monotonic() - start

    def _run(
        self, tests: tuple[str, ...], limit: float | None = None, fresh_cache: bool = False
    ) -> int | None:
        """Return pytest's exit code, None if it ran out of time."""
        options = ("-x", "-q", "-p", "no:cacheprovider", "-m", MEASURES_NOTHING)
        command = [sys.executable, "-m", "pytest", *options, *tests]
        with tempfile.TemporaryDirectory() as empty, open(os.devnull, "w") as nowhere:
            environment = {
                **{name: value for name, value in os.environ.items() if name != "HYPERLVQ_DATA"},
                "PYTHONPATH": str(self.root / "src"),
                "NUMBA_CACHE_DIR": empty if fresh_cache else str(self.cache),
            }
            pytest = subprocess.Popen(
                command,
                cwd=self.root,
                env=environment,
                stdout=nowhere,
                stderr=nowhere,
                start_new_session=True,
            )
            try:
                return pytest.wait(limit)
            except subprocess.TimeoutExpired:
                return None
            finally:
                if pytest.poll() is None:
                    os.killpg(pytest.pid, signal.SIGKILL)
                    pytest.wait()


def as_text(outcome: dict) -> str:
    """Return a mutant in one line."""
    return f"{outcome['path']}:{outcome['line']}  {outcome['old']} -> {outcome['new']}"


def try_mutants(
    mutants: list[Mutant], stages: list[str], output: Path, retry: bool
) -> Iterator[dict]:
    """Yield the outcome of every mutant; append those to the file that it lacks."""
    output.parent.mkdir(parents=True, exist_ok=True)
    lines = output.read_text().splitlines() if output.exists() else []
    known = {as_text(outcome): outcome for outcome in map(json.loads, lines)}
    with tempfile.TemporaryDirectory() as folder, output.open("a") as file:
        tree = Tree(Path(folder))
        for mutant in mutants:
            description = mutant.description()
            outcome = known.get(as_text(description), {"killed_by": None, "stages": None})
            if not outcome["killed_by"] and (retry or outcome["stages"] != stages):
                killed_by = tree.killing_stage(mutant, stages)
                outcome = {**description, "killed_by": killed_by, "stages": stages}
                print(json.dumps(outcome), file=file, flush=True)
            yield outcome


def main() -> None:
    """Draw mutants, try them, and print those that survive."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="+", type=Path, help="files and folders to mutate")
    parser.add_argument("--number", type=int, default=20, help="how many to draw")
    parser.add_argument("--seed", type=int, default=0, help="what to draw them by")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "mutants.jsonl")
    parser.add_argument("--retry", action="store_true", help="run those again that survived")
    options = parser.parse_args()
    mutants = draw_mutants(options.paths, options.number, options.seed)
    survivors = []
    outcomes = try_mutants(mutants, options.stages, options.output, options.retry)
    for number, outcome in enumerate(outcomes, 1):
        if not outcome["killed_by"]:
            survivors.append(as_text(outcome))
        fate = f"killed by its {outcome['killed_by']}" if outcome["killed_by"] else "survived"
        print(f"{number}/{len(mutants)} {fate}: {as_text(outcome)}", flush=True)
    print("", *survivors, sep="\n")
    n_killed = len(mutants) - len(survivors)
    print(f"{len(mutants)} mutants: {n_killed} killed, {len(survivors)} survived")


if __name__ == "__main__":
    main()
