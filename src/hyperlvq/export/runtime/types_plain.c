/* Units that have weights in flash. */
#define ${NAME}_PADDED_UNITS ${padded_units}u

typedef ${activation_type} ${name}_activation;
typedef ${weight_type} ${name}_weight;
#define ${NAME}_PER_ACTIVATION 1u
#define ${NAME}_PER_WEIGHT 1u
