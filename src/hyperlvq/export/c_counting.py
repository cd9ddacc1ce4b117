"""The C that counts signs: adders over bit planes, written out for the planes a model needs."""

from hyperlvq.export.ctext import INDENT, indented
from hyperlvq.export.layout import MOST_WORDS, Layout


def encode_body(layout: Layout, name: str) -> str:
    """Return the body of the function that encodes one word of units."""
    planes = [f"plane{p}" for p in range(layout.n_planes)]
    kept = ["inside"] * layout.is_odd + planes[: layout.n_clipped_planes]
    return indented(
        [
            *_declarations(layout, name, planes),
            "",
            *_counting(layout, name.upper(), planes),
            *(_clipping(layout, name, planes) if layout.clips else ()),
            "",
            *_storing(layout, name, kept),
        ]
    )


def _declarations(layout, name, planes):
    words = "one, two, three" if layout.fours else "one"
    starts = [f"({name}_word)-1" if layout.first_count >> p & 1 else 0 for p in range(len(planes))]
    return [
        *(f"{name}_word {plane} = {start};" for plane, start in zip(planes, starts, strict=True)),
        f"{name}_word {words};",
        *([f"{name}_word high, inside;"] if layout.clips else []),
        "unsigned left;",
    ]


def _counting(layout, upper, planes):
    take, add_two = f"{upper}_TAKE", f"{upper}_ADD_TWO"
    four = [
        f"{take}(one);",
        f"{take}(two);",
        f"{add_two}(plane0, one, two);",
        f"{take}(two);",
        f"{take}(three);",
        f"{add_two}(plane0, two, three);",
        f"{add_two}(plane1, one, two);",
    ]
    if layout.fours:
        yield from _loop(layout.fours, [*four, *_carrying(upper, planes[2:])])
    if layout.ones:
        yield from _loop(layout.ones, [f"{take}(one);", *_carrying(upper, planes)])


def _carrying(upper, planes):
    """Return the steps that add a bit to the first plane and carry it on to the last."""
    return [*(f"{upper}_ADD_ONE({plane}, one);" for plane in planes[:-1]), f"{planes[-1]} ^= one;"]


def _loop(times, steps):
    return [f"for (left = {times}; left; left--) {{", *(INDENT + step for step in steps), "}"]


def _clipping(layout, name, planes):
    """Return the steps that turn a negative count to 0 and a high one to the limit."""
    limit = layout.limit
    *digits, sign = enumerate(planes)
    lowest = (limit & -limit).bit_length() - 1
    return [
        "",
        f"/* Counts of {limit} and more become {limit}, negative ones 0. */",
        f"high = {planes[lowest]};",
        *(f"high {'&' if limit >> p & 1 else '|'}= {plane};" for p, plane in digits[lowest + 1 :]),
        f"high = ({name}_word)(high & ~{sign[1]});",
        f"inside = ({name}_word)~(high | {sign[1]});",
        *(
            f"{plane} = ({plane} & inside) | high;" if limit >> p & 1 else f"{plane} &= inside;"
            for p, plane in digits[: layout.n_clipped_planes]
        ),
    ]


def _storing(layout, name, kept):
    """Return the steps that store the planes of activations, lowest first."""
    one_by_one = _storing_each(layout, name, kept)
    if not layout.is_packed:
        return one_by_one
    return [
        "#if defined(__AVR__)",
        *one_by_one,
        "#else",
        *_storing_fours(name.upper(), kept),
        "#endif",
    ]


def _storing_each(layout, name, kept):
    bits = [f"(({plane} & 1u) << {p})" if p else f"({plane} & 1u)" for p, plane in enumerate(kept)]
    value = f"\n{3 * INDENT}| ".join(bits)
    if layout.rule:
        value = f"{'' if layout.is_odd else '2 * '}(int)({value}) - {layout.limit}"
    steps = [
        f"*activations++ = ({name}_activation)({value});",
        *(f"{plane} = ({name}_word)({plane} >> 1);" for plane in kept),
    ]
    return _loop(f"{name.upper()}_WORD_BITS", steps)


def _storing_fours(upper, kept):
    first, *others = (f"{upper}_SPREAD({plane})" for plane in kept)
    steps = [
        f"one = {first};",
        *(f"one |= {spread} << {p};" for p, spread in enumerate(others, start=1)),
        "one = (one >> 16) | (one << 16);",
        f"activations[{MOST_WORDS}] = (one >> 8) & UINT32_C(0x00FF00FF);",
        "*activations++ = one & UINT32_C(0x00FF00FF);",
        *(f"{plane} >>= 4;" for plane in kept),
    ]
    return _loop(MOST_WORDS, steps)
