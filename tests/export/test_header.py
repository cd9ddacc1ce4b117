"""The names of classes in the header, as C reads them."""

import subprocess

import numpy as np
import pytest
from export.firmware import CLANG, HOST, WARNINGS, execute

from hyperlvq import make_classifier
from hyperlvq.export import to_c
from hyperlvq.export.ctext import string_literal

NAMES = [
    'quote " and \\ backslash',
    "trigraphs ??/ ??= ???",
    "emoji 🙂1",
    "näïve",
    "ends in \\",
    "%s\t*/",
    "é0f",
    "",
    "x" * 200,
]
PRINT_NAMES = """\
#include <stdio.h>
#include "net.h"
static const char *const names[NET_CLASSES] = NET_CLASS_NAMES;
int main(void)
{
    unsigned i;
    for (i = 0; i < NET_CLASSES; i++) {
        puts(names[i]);
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return rng.uniform(size=(4 * len(NAMES), 3)), np.array(NAMES * 4)


@pytest.mark.parametrize("trainable", [False, True])
@pytest.mark.parametrize("compiler", [HOST, CLANG], ids=lambda compiler: compiler.name)
def test_names_come_out_of_c_as_they_went_in(compiler, trainable, samples, tmp_path):
    compiler.require()
    model = make_classifier("intrvfl", "perceptron", n_units=16, random_state=0).fit(*samples)
    to_c(model, tmp_path, name="net", trainable=trainable)
    main, program = tmp_path / "main.c", tmp_path / "main"
    main.write_text(PRINT_NAMES)
    execute([*compiler.compiler, *WARNINGS, main, "-o", program])

    said = subprocess.run([program], capture_output=True, check=True).stdout
    assert said.decode().split("\n")[:-1] == sorted(NAMES)


def test_literals_are_ascii_and_cannot_run_into_what_follows():
    assert string_literal("é0") == r'"\303\2510"'
    assert string_literal("a\n1") == r'"a\0121"'
    assert string_literal("??/") == r'"\?\?/"'
    assert string_literal("\ud800") == r'"\?"'
