typedef ${score_type} ${name}_score;

/* A run of consecutive units with the same number and meaning of comparisons. */
typedef struct {
    ${count_type} units;
    ${count_type} comparisons; /* of each unit */
} ${name}_run;

${runs}
/*
 * The activations of each run, indexed by the bits that say which features reach their thresholds.
 * The last comparison is the lowest bit. The lowest activation is subtracted and thus 0.
 */
${activations}
/* The feature of each comparison. */
${features}
?if is_float
/* The threshold of each comparison, converted by ${name}_ordered. */
?else
/* The threshold of each comparison. */
?end
${thresholds}
?if has_medians
/*
 * The replacement of a missing value in each feature, converted by ${name}_ordered. The smallest
 * number leaves it below all thresholds.
 */
${medians}
?end
/* The weights of each unit, one per output. */
${weights}
/* The biases, subtracted from the scores. */
${biases}
?if has_class_table
/* The class of each output. */
${classes}
?end
?if is_float
/* Map a float to an integer of the same order: -0 to 0, NaN to the smallest. */
static int32_t ${name}_ordered(float x)
{
    uint32_t bits, magnitude;

    memcpy(&bits, &x, sizeof bits);
    magnitude = bits & UINT32_C(0x7FFFFFFF);
    if (magnitude > UINT32_C(0x7F800000)) {
        return INT32_MIN;
    }
    return bits == magnitude ? (int32_t)magnitude : -(int32_t)magnitude;
}

?end
/* Return a bit per comparison, set if the feature reaches the threshold; the last is lowest. */
static ${NAME}_NOINLINE unsigned ${name}_reached(const ${number_type} *values,
    const ${feature_type} *features, const ${threshold_type} *thresholds, unsigned comparisons)
{
    unsigned reached = 0;

    do {
        reached *= 2;
        if (values[${read_feature}(features++)]
            >= (${threshold_type})${NAME}_READ_THRESHOLD(thresholds++)) {
            reached++;
        }
    } while (--comparisons);
    return reached;
}

${class_type} ${name}_predict(const ${name}_value x[${NAME}_FEATURES])
{
?if is_float
    int32_t values[${NAME}_FEATURES];
?else
    const ${name}_value *const values = x;
?end
    ${name}_score scores[${NAME}_OUTPUTS];
    const uint8_t *activations = ${name}_activations;
    const ${feature_type} *features = ${name}_features;
    const ${threshold_type} *thresholds = ${name}_thresholds;
    const ${weight_type} *weights = ${name}_weights;
    ${name}_score best_score;
    unsigned i, run_index, best;
?if has_empty_class
    unsigned missing = 0;
?end

?if is_float
    for (i = 0; i < ${NAME}_FEATURES; i++) {
        values[i] = ${name}_ordered(x[i]);
?end
?if has_missing
        if (values[i] == INT32_MIN) {
?end
?if has_medians
            ${NAME}_READ(values[i], &${name}_medians[i]);
?end
?if has_empty_class
            missing++;
?end
?if has_missing
        }
?end
?if is_float
    }
?end
?if has_empty_class
    if (missing == ${NAME}_FEATURES) {
        return ${empty_class};
    }
?end
    for (i = 0; i < ${NAME}_OUTPUTS; i++) {
        ${name}_score bias;

        ${NAME}_READ(bias, &${name}_biases[i]);
        scores[i] = -bias;
    }
    for (run_index = 0; run_index < ${NAME}_RUNS; run_index++) {
        ${name}_run run;

        ${NAME}_READ(run, &${name}_runs[run_index]);
        do {
            const unsigned reached = ${name}_reached(values, features, thresholds, run.comparisons);
            const uint8_t activation = ${NAME}_READ_BYTE(&activations[reached]);

            features += run.comparisons;
            thresholds += run.comparisons;
            if (activation) {
                for (i = 0; i < ${NAME}_OUTPUTS; i++) {
                    scores[i] +=
                        (${product_type})activation * (${weight_type})${read_weight}(&weights[i]);
                }
            }
            weights += ${NAME}_OUTPUTS;
        } while (--run.units);
        activations += 1u << run.comparisons;
    }
${winner}}
