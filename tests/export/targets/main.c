/* Runs a self-test, MODEL_selftest, and reports "wrong W instructions I" in decimal digits. */
#include "report.h"

unsigned MODEL_selftest(void);

static void report_number(const char *label, uint32_t number)
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
