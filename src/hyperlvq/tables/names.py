"""Names of columns: which are refused, which are not there, which number the rows."""

import difflib
import re
from collections.abc import Collection, Iterable, Sequence

from hyperlvq.checks import InputError
from hyperlvq.tables.numbers import is_plain_number

#: What an unnamed first column is called, as R and pandas write the names of rows.
ROW_NAME = "(row name)"
IDENTIFIER_WORDS = {"id", "ids", "idx", "index", "key", "nr", "no", "row", "uuid", "guid"}
UNNAMED_INDEX = re.compile(r"Unnamed: \d+|__index_level_\d+__|rownames?")
MOST_LISTED = 8


def tidy(name: str) -> str:
    """Return a name without surrounding blanks, and on one line."""
    return re.sub(r"\s*[\r\n]\s*", " ", name.strip())


def check_names(names: Sequence[str], table: str) -> None:
    """Refuse a header without names, a column without a name, and two of the same name."""
    if not names:
        raise InputError(f"{table} has no column names in its header")
    first_with: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if not name:
            raise InputError(f"{table}, header: column {position} has no name")
        if (first := first_with.setdefault(name, position)) < position:
            hint = ", is the header missing?" if is_plain_number(name) else ""
            raise InputError(
                f"{table}, header: columns {first} and {position} are both {name!r}{hint}"
            )


def check_present(names: Sequence[str], present: Collection[str], table: str) -> None:
    """Refuse names that the table does not have, and suggest what may be meant."""
    known = set(present)
    missing = [name for name in names if name not in known]
    if not missing:
        return
    word = "column" if len(missing) == 1 else "columns"
    suggestions = [_with_near_match(name, present) for name in missing]
    hint = "" if suggestions != [*map(repr, missing)] else f", only {listed(map(repr, present))}"
    raise InputError(f"{table} has no {word} {listed(suggestions)}{hint}")


def _with_near_match(name: str, present: Collection[str]) -> str:
    by_lower = {other.lower(): other for other in present}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f"{name!r} (did you mean {by_lower[near[0]]!r}?)" if near else repr(name)


def listed(items: Iterable[str]) -> str:
    """Return the first items, with commas, and how many more there are."""
    items = list(items)
    more = f" and {len(items) - MOST_LISTED} more" if len(items) > MOST_LISTED else ""
    return ", ".join(items[:MOST_LISTED]) + more


def says_identifier(name: str) -> bool:
    """Return whether a column is called what people call numbers of rows.

    Examples
    --------
    >>> from hyperlvq.tables.names import says_identifier
    >>> [says_identifier(name) for name in ("customerId", "ID", "house_no", "idea", "key_rate")]
    [True, True, True, False, False]
    """
    if name == ROW_NAME or UNNAMED_INDEX.fullmatch(name):
        return True
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    return bool(words) and (words[-1] in IDENTIFIER_WORDS or words[0] == "id")
