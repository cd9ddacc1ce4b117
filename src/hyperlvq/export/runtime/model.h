/*
 * ${name}: ${what}
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

/*
 * The features, in the order of x, and their values in training. What lies outside acts as the
 * end it is closer to${nan_words}.
 *
${feature_lines}
 */

/*
 * The classes that ${name}_predict returns:
 *
${class_lines}
 */

/* Their names in UTF-8: const char *const names[${NAME}_CLASSES] = ${NAME}_CLASS_NAMES; */
#define ${NAME}_CLASS_NAMES { \
${class_names} \
}

/* Return the class of one sample. Reentrant: all it writes is on its stack. */
${class_type} ${name}_predict(const ${name}_value x[${NAME}_FEATURES]);

#ifdef __cplusplus
}
#endif

#endif
