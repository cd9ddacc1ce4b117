/*
 * ${name}: ${what}
?if learns_glvq
 * It learns: GLVQ's online rule, in float.
?end
?if rule and not learns_glvq
 * It learns: the perceptron rule, in integers.
?end
 *
 * Written by hyperlvq ${version}; ${name}.md says how to build it.
 */
#ifndef ${NAME}_H
#define ${NAME}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ${NAME}_FEATURES ${n_features}
#define ${NAME}_CLASSES ${n_classes}

/* A raw feature value, in the units of the training data. */
typedef ${value_type} ${name}_value;

?if rule
/* What the device learns: ${learnt_bytes} bytes. */
typedef struct {
?end
?if rule and not learns_glvq
    int64_t norms[${n_outputs}];
?end
?if rule
    ${entry_type} prototypes[${n_outputs}][${n_units}];
} ${name}_model;

?end
/*
?if compares
 * The features, in the order of x, and their lowest and highest thresholds. Values below the lowest
 * act alike, and so do those from the highest on.
?end
?if compares and is_float
 * NaN lies below all of them.
?end
?if has_medians
 * Where training had no missing value, it is the feature's median instead.
?end
?if has_empty_class
 * Without any value the class is the most frequent one of training.
?end
?if not compares
 * The features, in the order of x, and their values in training. What lies outside acts as the
?end
?if is_float and not compares
 * end it is closer to, and NaN as the smallest.
?end
?if not is_float and not compares
 * end it is closer to.
?end
 *
${feature_lines}
 */

/*
?if rule
 * The classes:
?else
 * The classes that ${name}_predict returns:
?end
 *
${class_lines}
 */

/* Their names in UTF-8: const char *const names[${NAME}_CLASSES] = ${NAME}_CLASS_NAMES; */
#define ${NAME}_CLASS_NAMES { \
${class_names} \
}

?if rule
/* Make a model what it was when it was exported; call it once before all else. */
void ${name}_start(${name}_model *model);

/* Return the class of one sample. */
${class_type} ${name}_predict(const ${name}_model *model, const ${name}_value x[${NAME}_FEATURES]);

/*
 * Learn one sample of class `label`. Return the class that it would have been given before; a
 * label that is no class, or has no prototype, teaches nothing.
 */
${class_type} ${name}_learn(
    ${name}_model *model, const ${name}_value x[${NAME}_FEATURES], ${class_type} label);
?else
/* Return the class of one sample. Reentrant: all it writes is on its stack. */
${class_type} ${name}_predict(const ${name}_value x[${NAME}_FEATURES]);
?end

#ifdef __cplusplus
}
#endif

#endif
