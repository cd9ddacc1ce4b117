?if is_packed
#if defined(__AVR__)
?end
/* Return the dot product of activations and weights over a block; at most ${largest_dot}. */
static ${sum_type} ${name}_dot(const ${name}_activation *activations,
    const ${name}_weight *weights, unsigned units)
{
    ${sum_type} sum = 0;

    do {
        const ${weight_type} weight = (${weight_type})${read_weight}(weights++);

        sum = (${sum_type})(sum + (${sum_type})*activations++ * weight);
    } while (--units);
    return sum;
}
?if is_packed
#else
/*
 * Return the dot product of activations and weights over a block.
 *
 * One multiplication computes two products and adds them in its upper half:
 * (a + b 2^16)(y + x 2^16) = ay + (ax + by) 2^16 modulo 2^32. No half of the sum exceeds
 * ${half_bound}.
 */
static uint32_t ${name}_dot(const uint32_t *activations, const uint32_t *weights, unsigned words)
{
    const uint32_t mask = UINT32_C(0x00FF00FF);
?end
?if is_packed and not carries
    uint32_t even = 0, odd = 0;

    do {
        const uint32_t four = *weights++;

        odd += activations[8] * ((four >> 8) & mask);
        even += *activations++ * (four & mask);
    } while (--words);
    return (even + odd) >> 16;
?end
?if is_packed and carries
    uint32_t even = 0, odd = 0, total = 0;

    do {
        do {
            const uint32_t four = *weights++;

            odd += activations[8] * ((four >> 8) & mask);
            even += *activations++ * (four & mask);
        } while (--words % ${words_per_carry});
        total += (even + odd) >> 16;
        even = odd = 0;
    } while (words);
    return total;
?end
?if is_packed
}
#endif
?end
