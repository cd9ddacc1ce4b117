"""One value in several spellings: 1 and 1.0, True and TRUE and yes."""

import re
from collections import Counter
from collections.abc import Collection

#: Words for false and true, in lower case.
TRUTH_PAIRS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"), ("0", "1"))
TRUTH = {word: bool(truth) for pair in TRUTH_PAIRS for truth, word in enumerate(pair)}
WHOLE_NUMBER = re.compile(r"^(-?[0-9]+)[.,]0+$")


def truth_of(word: str) -> bool | None:
    """Return what a word for true or false says, None for other words."""
    return TRUTH.get(WHOLE_NUMBER.sub(r"\1", word).lower())


class Spelling:
    """From words to known ones that say the same, where there is one only.

    Words for true and false are the same if the known ones are one pair of them.
    """

    def __init__(self, known: Collection[str]) -> None:
        self._known = {*known}
        truths = {word.lower() for word in map(_as_whole, known)}
        self._are_truths = len(known) == 2 and truths in map(set, TRUTH_PAIRS)
        counts = Counter(map(self._meaning, known))
        meanings = ((self._meaning(word), word) for word in known)
        self._by_meaning = {each: word for each, word in meanings if counts[each] == 1}

    def __call__(self, word: str) -> str:
        """Return the known word, or the word itself."""
        return word if word in self._known else self._by_meaning.get(self._meaning(word), word)

    def _meaning(self, word: str) -> str | bool:
        truth = truth_of(word) if self._are_truths else None
        return _as_whole(word) if truth is None else truth


def _as_whole(word: str) -> str:
    """Return 1 for 1.0, which programs make of whole numbers in a column with a missing one."""
    return WHOLE_NUMBER.sub(r"\1", word)
