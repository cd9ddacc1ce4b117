/* Entries are in units of 2^-${fraction_bits}; a mistake moves them by ${rate} times the activations. */
#define ${NAME}_SCALE INT64_C(${scale})
#define ${NAME}_RATE ${rate}

/* Return the score of a prototype: the closest one has the highest. */
static int64_t ${name}_score(
    const ${name}_model *model, unsigned output, const ${name}_activation *activations)
{
    const int16_t *prototype = model->prototypes[output];
    ${sum_type} sum = 0;
    unsigned n;

    for (n = 0; n < ${NAME}_UNITS; n++) {
        sum += (${sum_type})activations[n] * prototype[n];
    }
    return 2 * ${NAME}_SCALE * sum - model->norms[output];
}

/* Move a prototype by a multiple of the activations; entries are clipped to 16 bits. */
static void ${name}_move(
    ${name}_model *model, unsigned output, const ${name}_activation *activations, int32_t rate)
{
    int16_t *prototype = model->prototypes[output];
    int64_t norm = 0;
    unsigned n;

    for (n = 0; n < ${NAME}_UNITS; n++) {
        int32_t moved = prototype[n] + rate * activations[n];

        if (moved > 32767) {
            moved = 32767;
        } else if (moved < -32767) {
            moved = -32767;
        }
        prototype[n] = (int16_t)moved;
        norm += moved * moved;
    }
    model->norms[output] = norm;
}

/* The initial prototypes. */
${prototypes}
void ${name}_start(${name}_model *model)
{
    const int16_t *stored = ${name}_prototypes;
    unsigned output, n;

    for (output = 0; output < ${NAME}_OUTPUTS; output++) {
        int64_t norm = 0;

        for (n = 0; n < ${NAME}_UNITS; n++, stored++) {
            int16_t entry;

            ${NAME}_READ(entry, stored);
            model->prototypes[output][n] = entry;
            norm += (int32_t)entry * entry;
        }
        model->norms[output] = norm;
    }
}

${class_type} ${name}_predict(const ${name}_model *model, const ${name}_value x[${NAME}_FEATURES])
{
    ${name}_activation activations[${NAME}_ROOM];
    unsigned output, best = 0;
    int64_t best_score;

    ${name}_activate(x, activations);
    best_score = ${name}_score(model, 0, activations);
    for (output = 1; output < ${NAME}_OUTPUTS; output++) {
        const int64_t score = ${name}_score(model, output, activations);

        if (score > best_score) {
            best = output;
            best_score = score;
        }
    }
    return ${name}_class_of(best);
}

${class_type} ${name}_learn(
    ${name}_model *model, const ${name}_value x[${NAME}_FEATURES], ${class_type} label)
{
    ${name}_activation activations[${NAME}_ROOM];
    /* The closest prototypes of the sample's class and of the others; OUTPUTS if there is none. */
    unsigned output, own = ${NAME}_OUTPUTS, other = ${NAME}_OUTPUTS;
    int64_t own_score = 0, other_score = 0;

    ${name}_activate(x, activations);
    for (output = 0; output < ${NAME}_OUTPUTS; output++) {
        const int64_t score = ${name}_score(model, output, activations);

        if (${name}_class_of(output) == label) {
            if (own == ${NAME}_OUTPUTS || score > own_score) {
                own = output;
                own_score = score;
            }
        } else if (other == ${NAME}_OUTPUTS || score > other_score) {
            other = output;
            other_score = score;
        }
    }
    if (own == ${NAME}_OUTPUTS) {
        return ${name}_class_of(other);
    }
    /* The first of equal scores wins. */
    if (other == ${NAME}_OUTPUTS || own_score > other_score
        || (own_score == other_score && own < other)) {
        return label;
    }
    ${name}_move(model, own, activations, ${NAME}_RATE);
    ${name}_move(model, other, activations, -${NAME}_RATE);
    return ${name}_class_of(other);
}
