"""The C that counts signs: adders over bit planes, written out for the planes a plan needs."""

from hyperlvq.export.ctext import indented
from hyperlvq.export.layout import MOST_WORDS, Layout

FOUR = 4


def encode_body(layout: Layout) -> str:
    """Return the body of the function that encodes one word of units."""
    return "\n".join(
        [
            _declarations(layout),
            "",
            *_counting(layout),
            *_clipping(layout),
            *_storing(layout),
        ]
    )


def _planes(layout):
    return [f"plane{p}" for p in range(layout.n_planes)]


def _kept(layout):
    """Return the planes of an activation, lowest first."""
    planes = _planes(layout)[: layout.n_kept_planes]
    return ["inside", *planes] if layout.is_odd else planes


def _declarations(layout):
    name = layout.plan.name
    ones = f"({name}_word)-1"
    planes = [
        f"{plane} = {ones if layout.first_count >> p & 1 else 0}"
        for p, plane in enumerate(_planes(layout))
    ]
    words = ["one"]
    if layout.plan.n_features >= FOUR:
        words += ["two", "three"]
    lines = [f"{name}_word {plane};" for plane in planes]
    lines.append(f"{name}_word {', '.join(words)};")
    if layout.clips:
        lines.append(f"{name}_word high, inside;")
    return indented([*lines, "unsigned left;"])


def _counting(layout):
    fours, ones = divmod(layout.plan.n_features, FOUR)
    take, add_two = f"{layout.plan.name.upper()}_TAKE", f"{layout.plan.name.upper()}_ADD_TWO"
    if fours:
        steps = [
            f"{take}(one);",
            f"{take}(two);",
            f"{add_two}(plane0, one, two);",
            f"{take}(two);",
            f"{take}(three);",
            f"{add_two}(plane0, two, three);",
            f"{add_two}(plane1, one, two);",
            *_carrying(layout, _planes(layout)[2:]),
        ]
        yield from _loop(fours, steps)
    if ones:
        yield from _loop(ones, [f"{take}(one);", *_carrying(layout, _planes(layout))])


def _carrying(layout, planes):
    """Return the steps that add a bit to the first plane and carry it on to the last."""
    add_one = f"{layout.plan.name.upper()}_ADD_ONE"
    return [*(f"{add_one}({plane}, one);" for plane in planes[:-1]), f"{planes[-1]} ^= one;"]


def _loop(times, steps):
    yield indented([f"for (left = {times}; left; left--) {{"])
    yield indented(steps, 2)
    yield indented(["}"])


def _clipping(layout):
    """Yield the steps that turn a negative count to 0 and a high one to the limit."""
    if not layout.clips:
        return
    name, limit = layout.plan.name, layout.plan.limit
    *planes, sign = _planes(layout)
    lowest = (limit & -limit).bit_length() - 1
    yield ""
    yield indented([f"/* Counts of {limit} and more become {limit}, negative ones 0. */"])
    lines = [f"high = {planes[lowest]};"]
    lines += [
        f"high {'&' if limit >> p & 1 else '|'}= {plane};"
        for p, plane in enumerate(planes)
        if p > lowest
    ]
    lines += [
        f"high = ({name}_word)(high & ~{sign});",
        f"inside = ({name}_word)~(high | {sign});",
    ]
    lines += [
        f"{plane} = ({plane} & inside) | high;" if limit >> p & 1 else f"{plane} &= inside;"
        for p, plane in enumerate(planes[: layout.n_kept_planes])
    ]
    yield indented(lines)


def _storing(layout):
    yield ""
    if not layout.is_packed:
        yield from _storing_each(layout)
        return
    yield "#if defined(__AVR__)"
    yield from _storing_each(layout)
    yield "#else"
    yield from _storing_fours(layout)
    yield "#endif"


def _storing_each(layout):
    name = layout.plan.name
    planes = _kept(layout)
    first, *others = [f"({plane} & 1u)" for plane in planes]
    bits = [first, *(f"({bit} << {p})" for p, bit in enumerate(others, start=1))]
    value = ("\n" + " " * 12 + "| ").join(bits)
    if layout.learns:
        factor = "" if layout.is_odd else "2 * "
        value = f"{factor}(int)({value}) - {layout.plan.limit}"
    steps = [
        f"*activations++ = ({name}_activation)({value});",
        *(f"{plane} = ({name}_word)({plane} >> 1);" for plane in planes),
    ]
    yield from _loop(f"{name.upper()}_WORD_BITS", steps)


def _storing_fours(layout):
    upper = layout.plan.name.upper()
    spread = [f"{upper}_SPREAD({plane}) << {p}" for p, plane in enumerate(_kept(layout))]
    steps = [
        f"one = {spread[0].removesuffix(' << 0')};",
        *(f"one |= {word};" for word in spread[1:]),
        "one = (one >> 16) | (one << 16);",
        f"activations[{MOST_WORDS}] = (one >> 8) & UINT32_C(0x00FF00FF);",
        "*activations++ = one & UINT32_C(0x00FF00FF);",
        *(f"{plane} >>= 4;" for plane in _kept(layout)),
    ]
    yield from _loop(MOST_WORDS, steps)
