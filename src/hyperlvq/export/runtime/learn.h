/*
 * ${name}: ${what}
 * It learns: ${rule}, ${arithmetic}.
 *
 * ${origin}
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

/* What the device learns: ${learnt_bytes} bytes. */
typedef struct {
${norms_field}    ${entry_type} prototypes[${n_outputs}][${n_units}];
} ${name}_model;

/*
 * The features, in the order of x, and their values in training. What lies outside acts as the
 * end it is closer to${nan_words}.
 *
${feature_lines}
 */

/*
 * The classes:
 *
${class_lines}
 */

/* Their names in UTF-8: const char *const names[${NAME}_CLASSES] = ${NAME}_CLASS_NAMES; */
#define ${NAME}_CLASS_NAMES { \
${class_names} \
}

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

#ifdef __cplusplus
}
#endif

#endif
