typedef ${score_type} ${name}_score;

?if is_packed
/* The weights by block of 32 units, then by output; four to a word, each plus 128. */
?end
?if not is_packed and is_byte
/* The weights by block of 32 units, then by output; each plus 128. */
?end
?if not is_byte
/* The weights by block of 32 units, then by output. */
?end
${weights}
/* The biases, subtracted from the scores. */
${biases}
?if has_class_table
/* The class of each output. */
${classes}
?end
/* The number of units with weights in the block from `first` on. */
#if ${NAME}_PADDED_UNITS % ${NAME}_BLOCK == 0
#define ${NAME}_LENGTH(first) ${NAME}_BLOCK
#else
#define ${NAME}_LENGTH(first) \
    (${NAME}_PADDED_UNITS - first < ${NAME}_BLOCK ? ${NAME}_PADDED_UNITS - first : ${NAME}_BLOCK)
#endif

/* Add the products of a block to the scores; return the weights of the next block. */
static ${NAME}_NOINLINE const ${name}_weight *${name}_add_scores(${name}_score *scores,
    const ${name}_activation *activations, const ${name}_weight *weights, unsigned length)
{
    unsigned i;

    for (i = 0; i < ${NAME}_OUTPUTS; i++) {
        scores[i] += ${score_factor}(${name}_score)${name}_dot(activations, weights, length);
        weights += length;
    }
    return weights;
}

${class_type} ${name}_predict(const ${name}_value x[${NAME}_FEATURES])
{
    ${name}_level levels[${NAME}_FEATURES];
    ${name}_activation activations[${NAME}_BLOCK / ${NAME}_PER_ACTIVATION];
    ${name}_score scores[${NAME}_OUTPUTS];
    const uint32_t *keys = ${name}_keys;
    const ${name}_weight *weights = (const ${name}_weight *)${name}_weights;
    ${name}_score best_score;
    unsigned i, first, best;

    for (i = 0; i < ${NAME}_FEATURES; i++) {
        levels[i] = ${name}_level_of(i, x[i]);
    }
    for (i = 0; i < ${NAME}_OUTPUTS; i++) {
        ${name}_score bias;

        ${NAME}_READ(bias, &${name}_biases[i]);
        scores[i] = -bias;
    }
    for (first = 0; first < ${NAME}_UNITS; first += ${NAME}_BLOCK) {
        for (i = 0; i < ${NAME}_LENGTH(first); i += ${NAME}_WORD_BITS) {
            ${name}_encode(levels, (const ${name}_word *)keys + i / ${NAME}_WORD_BITS,
                first + i, activations + i / ${NAME}_PER_ACTIVATION);
        }
        keys += ${NAME}_FEATURES;
        weights = ${name}_add_scores(
            scores, activations, weights, ${NAME}_LENGTH(first) / ${NAME}_PER_WEIGHT);
    }
${winner}}
