/*
 * Test ${name} on ${n_samples} samples; main returns 0 if all classes are as expected.
 *
 * Written by hyperlvq ${version}. See ${name}.md for how to build it.
 */
#include "${name}.h"
?if has_missing

#include <math.h>
?end

#if defined(__AVR__)
#include <avr/pgmspace.h>
#define ${NAME}_FLASH PROGMEM
#else
#define ${NAME}_FLASH
#endif

#define ${NAME}_SAMPLES ${n_samples}u

static const ${name}_value ${name}_samples[${NAME}_SAMPLES][${NAME}_FEATURES] ${NAME}_FLASH = {
${samples}
};

static const ${class_type} ${name}_expected[${NAME}_SAMPLES] ${NAME}_FLASH = {
${expected}
};

/* Return the number of samples with an unexpected class. */
unsigned ${name}_selftest(void);

unsigned ${name}_selftest(void)
{
?if rule
    static ${name}_model model;
?end
    unsigned sample, wrong = 0;

?if rule
    ${name}_start(&model);
?end
    for (sample = 0; sample < ${NAME}_SAMPLES; sample++) {
#if defined(__AVR__)
        ${class_type} expected;
        static ${name}_value x[${NAME}_FEATURES];

        memcpy_P(&expected, &${name}_expected[sample], sizeof expected);
        memcpy_P(x, ${name}_samples[sample], sizeof x);
#else
        const ${class_type} expected = ${name}_expected[sample];
        const ${name}_value *x = ${name}_samples[sample];
#endif
?if rule
        wrong += ${name}_predict(&model, x) != expected;
?else
        wrong += ${name}_predict(x) != expected;
?end
    }
    return wrong;
}

#ifndef ${NAME}_NO_MAIN
int main(void)
{
    return ${name}_selftest() != 0;
}
#endif
