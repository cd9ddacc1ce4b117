/* Prints the names of the classes, one a line. */
#include <stdio.h>
#include "net.h"

static const char *const names[NET_CLASSES] = NET_CLASS_NAMES;

int main(void)
{
    unsigned i;
    for (i = 0; i < NET_CLASSES; i++) {
        puts(names[i]);
    }
    return 0;
}
