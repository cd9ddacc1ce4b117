/*
 * Predicts the samples that the emulator laid into memory, and reports a digit a label, the
 * instructions of all predictions and the deepest stack. The model's own header, model.h, says
 * what a value is and what predicts.
 */
#include <stdint.h>
#include "model.h"
#include "report.h"

#define COUNT (*(volatile const uint32_t *)0x21000000u)
#define SAMPLES ((const bench_value *)0x21000008u)
#define LABELS ((char *)0x21800000u)
#define WRAP (40u << 24) /* where the counter of instructions starts again */
#define PAINT 0xA5A5A5A5u
#define PAINTED_WORDS 16384u

extern uint32_t stack_top;

static uint32_t run_samples(void)
{
    const uint32_t count = COUNT;
    uint32_t total = 0, before = instructions();

    for (uint32_t i = 0; i < count; i++) {
        LABELS[i] = (char)('0' + bench_predict(SAMPLES + i * BENCH_FEATURES));
        const uint32_t now = instructions();
        total += now - before + (now < before ? WRAP : 0u);
        before = now;
    }
    LABELS[count] = '\0';
    return total;
}

int main(void)
{
    volatile uint32_t *const bottom = &stack_top - PAINTED_WORDS;
    volatile uint32_t *word = __builtin_frame_address(0);
    uint32_t total;

    /* Some way below this frame, so that what it still pushes stays. */
    for (word -= 32; word >= bottom; word--) {
        *word = PAINT;
    }
    total = run_samples();
    for (word = bottom; *word == PAINT; word++) {
    }
    report("labels ");
    report(LABELS);
    report_number(" instructions ", total);
    report_number(" stack ", (uint32_t)(&stack_top - word) * 4u);
    report("\n");
    return 0;
}
