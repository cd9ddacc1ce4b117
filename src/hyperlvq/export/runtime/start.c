/*
 * ${name}: ${what}
 *
 * Written by hyperlvq ${version}. See ${name}.md for how to build it.
 *
?if not compares
 * The class of a sample is computed in four steps:
 *   levels       each feature is scaled to a level from 0 to ${n_units};
 *   counts       unit n has one sign bit per feature, which is inverted if n is below the
 *                feature's level, and counts its positive signs;
 *   activations  counts are clipped to a narrow band around the middle;
?else
 * Each unit compares a few features with thresholds, and its activation depends on the number of
 * comparisons that hold. The score of an output is the weighted sum of the activations, and the
 * highest score wins.
?end
?if rule
 *   distances    the prototype closest to the activations gives the class.
 * Units are encoded in blocks of 32.
?end
?if not rule and not compares
 *   scores       each output is a weighted sum of the activations, and the highest wins.
 * Units are processed in blocks of 32, so memory does not grow with their number.
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

/* For functions whose loops need all registers. */
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
