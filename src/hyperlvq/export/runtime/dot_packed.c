#if defined(__AVR__)
${dot_plain}
#else
/*
 * Return the product of activations and weights over a block.
 *
 * One multiplication makes two products and adds them in its upper half:
 * (a + b 2^16)(y + x 2^16) = ay + (ax + by) 2^16 modulo 2^32. No half of the sum exceeds
 * ${half_bound}.
 */
static uint32_t ${name}_dot(const uint32_t *activations, const uint32_t *weights, unsigned words)
{
    const uint32_t mask = UINT32_C(0x00FF00FF);
${dot_body}
}
#endif
