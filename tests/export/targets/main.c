/* Runs a self-test, MODEL_selftest, and reports "wrong W" in decimal digits. */
#include "report.h"

unsigned MODEL_selftest(void);

int main(void)
{
    report_number("wrong ", MODEL_selftest());
    report("\n");
    return 0;
}
