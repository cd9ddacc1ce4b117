/* Predicts samples, each between calls of begin and end, for count_instructions.c to see. */
#include "net.h"

extern net_value samples[SAMPLES][NET_FEATURES];
volatile unsigned class_found;

/* What they write keeps compilers from merging them or leaving them out. */
__attribute__((noinline)) void begin(void)
{
    class_found = 1;
}

__attribute__((noinline)) void end(void)
{
    class_found = 2;
}

int main(void)
{
    unsigned i;

    for (i = 0; i < SAMPLES; i++) {
        begin();
        class_found = net_predict(samples[i]);
        end();
    }
    return 0;
}
