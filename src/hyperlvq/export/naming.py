"""Names that C takes as the prefix of others."""

import re
from typing import Any

from hyperlvq.checks import InputError

RESERVED_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while main "
    "asm bool catch class delete explicit export false friend mutable namespace new operator "
    "private protected public template this throw true try typename using virtual "
    # Headers of the standard library, which NAME.h must not hide.
    "assert complex ctype errno fenv inttypes iso646 limits locale math memory setjmp signal "
    "stdarg stdbool stddef stdint stdio stdlib string tgmath time wchar wctype"
)


def check_name(name: Any) -> str:
    """Return a name that C takes as the prefix of others."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name):
        raise InputError(
            f"name must be a C identifier of at most 31 ASCII letters, digits and underscores "
            f"that begins with a letter, got {name!r}"
        )
    if name in RESERVED_WORDS.split():
        raise InputError(f"name must not be a word that C or its library reserves, got {name!r}")
    return name
