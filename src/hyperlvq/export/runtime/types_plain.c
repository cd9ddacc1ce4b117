typedef ${activation_type} ${name}_activation;
typedef ${weight_type} ${name}_weight;
#define ${NAME}_PER_ACTIVATION 1u
#define ${NAME}_PER_WEIGHT 1u
