#include <stdio.h>
#include "report.h"

void report(const char *text)
{
    fputs(text, stdout);
}

uint32_t instructions(void)
{
    uint32_t count;

    __asm__ volatile("rdinstret %0" : "=r"(count));
    return count;
}
