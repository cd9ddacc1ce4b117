typedef ${score_type} ${name}_score;

/* The weights: for each block of 32 units those of each output${weight_words}. */
${weights}
/* Where the scores start. */
${starts}${class_table}
${class_type} ${name}_predict(const ${name}_value x[${NAME}_FEATURES])
{
    ${name}_level levels[${NAME}_FEATURES];
    ${name}_activation activations[${NAME}_BLOCK / ${NAME}_PER_ACTIVATION];
    ${name}_score scores[${NAME}_OUTPUTS];
    const uint32_t *keys = ${name}_keys;
    const ${name}_weight *weights = (const ${name}_weight *)${name}_weights;
    unsigned i, first, best;

    for (i = 0; i < ${NAME}_FEATURES; i++) {
        levels[i] = ${name}_level_of(i, x[i]);
    }
    for (first = 0; first < ${NAME}_UNITS; first += ${NAME}_BLOCK) {
        unsigned length = ${NAME}_PADDED_UNITS - first;

        if (length > ${NAME}_BLOCK) {
            length = ${NAME}_BLOCK;
        }
        for (i = 0; i < length; i += ${NAME}_WORD_BITS) {
            ${name}_encode(levels, (const ${name}_word *)keys + i / ${NAME}_WORD_BITS,
                first + i, activations + i / ${NAME}_PER_ACTIVATION);
        }
        keys += ${NAME}_FEATURES;
        length /= ${NAME}_PER_WEIGHT;
        for (i = 0; i < ${NAME}_OUTPUTS; i++) {
            ${name}_score score;

            if (first == 0) {
                ${NAME}_READ(score, &${name}_starts[i]);
            } else {
                score = scores[i];
            }
            scores[i] = score + ${step}(${name}_score)${name}_dot(activations, weights, length);
            weights += length;
        }
    }
    best = 0;
    for (i = 1; i < ${NAME}_OUTPUTS; i++) {
        if (scores[i] > scores[best]) {
            best = i;
        }
    }
    return ${class_of_best};
}
