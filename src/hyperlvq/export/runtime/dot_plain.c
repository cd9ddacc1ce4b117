/* Return the product of activations and weights over a block; at most ${largest_dot}. */
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
