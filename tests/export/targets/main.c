/* Runs a self-test, MODEL_selftest, and reports "wrong W instructions I" in decimal digits. */
#include "report.h"

unsigned MODEL_selftest(void);

int main(void)
{
    uint32_t before = instructions();
    uint32_t wrong = MODEL_selftest();
    uint32_t after = instructions();

    report_number("wrong ", wrong);
    report_number(" instructions ", after - before);
    report("\n");
    return 0;
}
