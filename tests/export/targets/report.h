/* What each target offers to say what it found. */
#ifndef REPORT_H
#define REPORT_H

#include <stdint.h>

void report(const char *text);
uint32_t instructions(void); /* of the Cortex-M3 only */

__attribute__((unused)) static void report_number(const char *label, uint32_t number)
{
    char digits[11];
    char *digit = digits + 10;

    *digit = '\0';
    do {
        *--digit = (char)('0' + number % 10u);
        number /= 10u;
    } while (number);
    report(label);
    report(digit);
}

#endif
