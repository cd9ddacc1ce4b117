/*
 * ${name}: ${what}
 *
 * Written by hyperlvq ${version}; ${name}.md says how to build it.
 *
?if not compares
 * A sample becomes a class in four steps:
 *   levels       each feature becomes a level of 0 to ${n_units};
 *   counts       unit n has a sign for each feature, kept as one bit, which is inverted where n
 *                is below the feature's level; the unit counts its positive signs;
 *   activations  counts are limited to a narrow band around the middle;
?else
 * Each unit compares a few features with thresholds of its own, and its activation depends on how
 * many of the comparisons hold. Each output adds up the activations times its weights, unit after
 * unit, and the highest score wins.
?end
?if rule
 *   distances    the prototype closest to the activations gives the class.
 * Units are encoded in blocks of 32.
?end
?if not rule and not compares
 *   scores       each output multiplies the activations by its weights, and the highest wins.
 * Units are taken in blocks of 32, so that memory does not grow with their number.
?end
 */
#include "${name}.h"
?if compares and is_float

#include <string.h>
?end

#if defined(__AVR__)
?if avr_complaint
#error "${name} does not fit an AVR: ${avr_complaint}"
?end
#include <avr/pgmspace.h>
#define ${NAME}_FLASH PROGMEM
#define ${NAME}_READ(value, address) memcpy_P(&(value), (address), sizeof(value))
#define ${NAME}_READ_BYTE(address) pgm_read_byte(address)
#define ${NAME}_READ_WORD(address) pgm_read_word(address)
?if compares
#define ${NAME}_READ_THRESHOLD(address) ${read_threshold}(address)
?else
/* A word of signs is as wide as a register. */
typedef uint8_t ${name}_word;
?end
#else
#define ${NAME}_FLASH
#define ${NAME}_READ(value, address) ((value) = *(address))
#define ${NAME}_READ_BYTE(address) (*(address))
#define ${NAME}_READ_WORD(address) (*(address))
?if compares
#define ${NAME}_READ_THRESHOLD(address) (*(address))
?else
typedef uint32_t ${name}_word;
?end
#endif

/* For functions whose loops want all registers to themselves. */
#if defined(__GNUC__)
#define ${NAME}_NOINLINE __attribute__((noinline))
#else
#define ${NAME}_NOINLINE
#endif

?if not compares
#define ${NAME}_UNITS ${n_units}u
?end
#define ${NAME}_OUTPUTS ${n_outputs}u
?if compares
#define ${NAME}_RUNS ${n_runs}u
?else
#define ${NAME}_BLOCK 32u
#define ${NAME}_WORD_BITS (8u * (unsigned)sizeof(${name}_word))

typedef ${level_type} ${name}_level;
?end
