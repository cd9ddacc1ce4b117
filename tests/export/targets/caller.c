/* The least firmware that calls a model, or with WITHOUT_MODEL the same without the call. */
#if defined(WITHOUT_MODEL)
#include <stdint.h>

volatile uint8_t sample[4];
#else
#include "net.h"

net_value sample[NET_FEATURES];
#endif
volatile unsigned class_found;

int main(void)
{
#if defined(WITHOUT_MODEL)
    class_found = sample[0];
#else
    class_found = net_predict(sample);
#endif
    return 0;
}
