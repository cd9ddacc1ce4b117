typedef ${activation_type} ${name}_activation;
/* Activations are written in whole blocks. */
#define ${NAME}_ROOM ${room}u
