/*
 * Learns the samples of stream.h, PASSES times over, and reports the prototypes, an entry's
 * bits as eight hexadecimal digits, then how many samples of the last pass it had wrong.
 */
#include <string.h>
#include "net.h"
#include "report.h"
#include "stream.h"

static net_model model;

static void report_hex(uint32_t bits)
{
    char text[] = "00000000 ";
    char *digit;

    for (digit = text + 7; digit >= text; digit--) {
        *digit = "0123456789abcdef"[bits & 15u];
        bits >>= 4;
    }
    report(text);
}

static void report_prototypes(void)
{
    unsigned output, n;

    for (output = 0; output < sizeof model.prototypes / sizeof model.prototypes[0]; output++) {
        for (n = 0; n < sizeof model.prototypes[0] / sizeof model.prototypes[0][0]; n++) {
            uint32_t bits = 0;

            memcpy(&bits, &model.prototypes[output][n], sizeof model.prototypes[0][0]);
            report_hex(bits);
        }
    }
}

int main(void)
{
    unsigned pass, sample, wrong = 0;

    net_start(&model);
    for (pass = 0; pass < PASSES; pass++) {
        wrong = 0;
        for (sample = 0; sample < SAMPLES; sample++) {
            wrong += net_learn(&model, samples[sample], labels[sample]) != labels[sample];
        }
    }
    report_prototypes();
    report("model ");
    report_hex((uint32_t)sizeof model);
    report("wrong ");
    report_hex(wrong);
    report("predicted ");
    for (sample = 0; sample < SAMPLES; sample++) {
        report_hex(net_predict(&model, samples[sample]));
    }
    report("\n");
    return 0;
}
