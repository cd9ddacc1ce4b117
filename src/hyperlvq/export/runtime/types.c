?if rule
typedef ${activation_type} ${name}_activation;
/* Activations are written in whole blocks. */
#define ${NAME}_ROOM ${room}u
?else
/* Units that have weights in flash. */
#define ${NAME}_PADDED_UNITS ${padded_units}u

?end
?if is_packed
#if defined(__AVR__)
/* AVR multiplies 8 bits, so units are processed one at a time. */
typedef uint8_t ${name}_activation;
typedef uint8_t ${name}_weight;
#define ${NAME}_PER_ACTIVATION 1u
#define ${NAME}_PER_WEIGHT 1u
#else
/*
 * A word holds the activations of two units, or the weights of four. Of every four units the
 * first and third have their activations in one word, the others 8 words further on.
 */
typedef uint32_t ${name}_activation;
typedef uint32_t ${name}_weight;
#define ${NAME}_PER_ACTIVATION 2u
#define ${NAME}_PER_WEIGHT 4u
/* Spread the lowest four bits of a word, one to each byte. */
#define ${NAME}_SPREAD(word) ((((word) & 15u) * UINT32_C(0x00204081)) & UINT32_C(0x01010101))
#endif
?end
?if not is_packed and not rule
typedef ${activation_type} ${name}_activation;
typedef ${weight_type} ${name}_weight;
#define ${NAME}_PER_ACTIVATION 1u
#define ${NAME}_PER_WEIGHT 1u
?end
