#include <math.h>

/* The slope of the cost and the learning rate. */
#define ${NAME}_SLOPE ${slope}
#ifndef ${NAME}_RATE
#define ${NAME}_RATE ${rate}
#endif

/* Return the squared distance from a prototype. */
static float ${name}_distance(
    const ${name}_model *model, unsigned output, const ${name}_activation *activations)
{
    const float *prototype = model->prototypes[output];
    float sum = 0.0f;
    unsigned n;

    for (n = 0; n < ${NAME}_UNITS; n++) {
        const float difference = (float)activations[n] - prototype[n];

        sum += difference * difference;
    }
    return sum;
}

/* Move a prototype towards the activations, or away from them. */
static void ${name}_move(
    ${name}_model *model, unsigned output, const ${name}_activation *activations, float rate)
{
    float *prototype = model->prototypes[output];
    unsigned n;

    for (n = 0; n < ${NAME}_UNITS; n++) {
        prototype[n] += rate * ((float)activations[n] - prototype[n]);
    }
}

/* The initial prototypes. */
${prototypes}
void ${name}_start(${name}_model *model)
{
    const float *stored = ${name}_prototypes;
    unsigned output, n;

    for (output = 0; output < ${NAME}_OUTPUTS; output++) {
        for (n = 0; n < ${NAME}_UNITS; n++, stored++) {
            ${NAME}_READ(model->prototypes[output][n], stored);
        }
    }
}

${class_type} ${name}_predict(const ${name}_model *model, const ${name}_value x[${NAME}_FEATURES])
{
    ${name}_activation activations[${NAME}_ROOM];
    unsigned output, best = 0;
    float least;

    ${name}_activate(x, activations);
    least = ${name}_distance(model, 0, activations);
    for (output = 1; output < ${NAME}_OUTPUTS; output++) {
        const float distance = ${name}_distance(model, output, activations);

        if (distance < least) {
            best = output;
            least = distance;
        }
    }
    return ${name}_class_of(best);
}

${class_type} ${name}_learn(
    ${name}_model *model, const ${name}_value x[${NAME}_FEATURES], ${class_type} label)
{
    ${name}_activation activations[${NAME}_ROOM];
    /* The closest prototypes of the sample's class and of the others; OUTPUTS if there is none. */
    unsigned output, own = ${NAME}_OUTPUTS, other = ${NAME}_OUTPUTS;
    float near_own = 0.0f, near_other = 0.0f;
    float total, cost, step;

    ${name}_activate(x, activations);
    for (output = 0; output < ${NAME}_OUTPUTS; output++) {
        const float distance = ${name}_distance(model, output, activations);

        if (${name}_class_of(output) == label) {
            if (own == ${NAME}_OUTPUTS || distance < near_own) {
                own = output;
                near_own = distance;
            }
        } else if (other == ${NAME}_OUTPUTS || distance < near_other) {
            other = output;
            near_other = distance;
        }
    }
    if (own == ${NAME}_OUTPUTS) {
        return ${name}_class_of(other);
    }
    if (other == ${NAME}_OUTPUTS) {
        return label;
    }
    /* Gradient step for both winners on cost = 1 / (1 + exp(-SLOPE (own - other) / total)). */
    total = near_own + near_other;
    if (total > 0.0f) {
        cost = 1.0f / (1.0f + expf(-${NAME}_SLOPE * ((near_own - near_other) / total)));
        step = 4.0f * ${NAME}_RATE * ${NAME}_SLOPE * cost * (1.0f - cost) / total;
        ${name}_move(model, own, activations, step * (near_other / total));
        ${name}_move(model, other, activations, -step * (near_own / total));
    }
    if (near_own < near_other || (near_own == near_other && own < other)) {
        return label;
    }
    return ${name}_class_of(other);
}
