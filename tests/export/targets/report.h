/* What each target offers to say what it found. */
#ifndef REPORT_H
#define REPORT_H

#include <stdint.h>

void report(const char *text);
uint32_t instructions(void);

#endif
