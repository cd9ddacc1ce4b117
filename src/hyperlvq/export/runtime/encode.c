/*
 * The keys: one word per feature for each block of 32 units. Unit 0 is the lowest bit, and a set
 * bit means +1.
 */
${keys}
/* Return the signs of the units from `first` on, inverted for the units below the level. */
static inline ${name}_word ${name}_signs(${name}_word key, unsigned level, unsigned first)
{
    if (level <= first) {
        return key;
    }
    if (level - first >= ${NAME}_WORD_BITS) {
        return (${name}_word)~key;
    }
    return (${name}_word)(key ^ (((${name}_word)1 << (level - first)) - 1));
}

/* Read the signs of the next feature. */
#if defined(__AVR__)
#define ${NAME}_TAKE(signs) \
    (signs = ${name}_signs(pgm_read_byte(keys), *levels++, first), keys += 4)
#else
#define ${NAME}_TAKE(signs) (signs = ${name}_signs(*keys++, *levels++, first))
#endif

/* Add two bits to a plane of all counters; `one` becomes the carry. */
#define ${NAME}_ADD_TWO(plane, one, two) \
    do { \
        const ${name}_word odd = plane ^ one; \
        one = (${name}_word)((plane & one) | (odd & two)); \
        plane = odd ^ two; \
    } while (0)

/* Add one bit to a plane of all counters; `one` becomes the carry. */
#define ${NAME}_ADD_ONE(plane, one) \
    do { \
        const ${name}_word both = plane & one; \
        plane ^= one; \
        one = both; \
    } while (0)

/*
 * Write the activations of a word of units, from unit `first` on, as 0 to ${highest_activation}.
 * Each unit has a counter, and plane p holds bit p of all of them, so that a few bitwise
 * operations count for every unit at once.
 */
static ${NAME}_NOINLINE void ${name}_encode(const ${name}_level *levels,
    const ${name}_word *keys, unsigned first, ${name}_activation *activations)
{
${planes}
?if fours
    ${name}_word one, two, three;
?else
    ${name}_word one;
?end
?if clips
    ${name}_word high, inside;
?end
    unsigned left;

?if fours
    for (left = ${fours}; left; left--) {
        ${NAME}_TAKE(one);
        ${NAME}_TAKE(two);
        ${NAME}_ADD_TWO(plane0, one, two);
        ${NAME}_TAKE(two);
        ${NAME}_TAKE(three);
        ${NAME}_ADD_TWO(plane0, two, three);
        ${NAME}_ADD_TWO(plane1, one, two);
${carry_from_plane_2}
    }
?end
?if ones
    for (left = ${ones}; left; left--) {
        ${NAME}_TAKE(one);
${carry_from_plane_0}
    }
?end
?if clips

    /* Clip the counts to 0 .. ${limit}. */
${clipping}
?end

?if is_packed
#if defined(__AVR__)
?end
    for (left = ${NAME}_WORD_BITS; left; left--) {
        *activations++ = (${name}_activation)(${activation});
${next_unit}
    }
?if is_packed
#else
    for (left = 8; left; left--) {
${spread}
        one = (one >> 16) | (one << 16);
        activations[8] = (one >> 8) & UINT32_C(0x00FF00FF);
        *activations++ = one & UINT32_C(0x00FF00FF);
${next_four_units}
    }
#endif
?end
}
