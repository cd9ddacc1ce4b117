?if has_class_table

/* The class of each output. */
${classes}/* Write the activations of a sample. */
?else
/* Write the activations of a sample. */
?end
static void ${name}_activate(const ${name}_value *x, ${name}_activation *activations)
{
    ${name}_level levels[${NAME}_FEATURES];
    const uint32_t *keys = ${name}_keys;
    unsigned i, first;

    for (i = 0; i < ${NAME}_FEATURES; i++) {
        levels[i] = ${name}_level_of(i, x[i]);
    }
    for (first = 0; first < ${NAME}_UNITS; first += ${NAME}_BLOCK) {
        for (i = 0; i < ${NAME}_BLOCK; i += ${NAME}_WORD_BITS) {
            ${name}_encode(levels, (const ${name}_word *)keys + i / ${NAME}_WORD_BITS,
                first + i, activations + first + i);
        }
        keys += ${NAME}_FEATURES;
    }
}

static ${class_type} ${name}_class_of(unsigned output)
{
    return ${class_of_output};
}
