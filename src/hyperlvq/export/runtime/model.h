/*
 * ${name}: ${what}
?if learns_glvq
 * It can learn with the online rule of GLVQ in float.
?end
?if rule and not learns_glvq
 * It can learn with the perceptron rule in integers.
?end
 *
 * Written by hyperlvq ${version}. See ${name}.md for how to build it.
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
/* The model's state: ${learnt_bytes} bytes. */
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
 * The features, in the order of x, with their lowest and highest thresholds. All values below the
 * lowest threshold act alike, and so do all values from the highest on.
?end
?if compares and is_float
 * NaN counts as below all thresholds.
?end
?if has_medians
 * Where training had no missing value, it is the feature's median instead.
?end
?if has_empty_class
 * Without any value the class is the most frequent one of training.
?end
?if not compares
 * The features, in the order of x, with their training ranges. Values outside are clipped to the
?end
?if is_float and not compares
 * range, and NaN counts as the smallest value.
?end
?if not is_float and not compares
 * range.
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

/* The class names in UTF-8: const char *const names[${NAME}_CLASSES] = ${NAME}_CLASS_NAMES; */
#define ${NAME}_CLASS_NAMES { \
${class_names} \
}

?if rule
/* Reset a model to its exported state; call this first. */
void ${name}_start(${name}_model *model);

/* Return the class of one sample. */
${class_type} ${name}_predict(const ${name}_model *model, const ${name}_value x[${NAME}_FEATURES]);

/*
 * Learn one sample of class `label` and return the class predicted before. A label that is not a
 * class or has no prototype is ignored.
 */
${class_type} ${name}_learn(
    ${name}_model *model, const ${name}_value x[${NAME}_FEATURES], ${class_type} label);
?else
/* Return the class of one sample. Reentrant: it writes only to the stack. */
${class_type} ${name}_predict(const ${name}_value x[${NAME}_FEATURES]);
?end

#ifdef __cplusplus
}
#endif

#endif
