/* The least that runs main on qemu's mps2-an385, and says what it found by semihosting. */
#include <stdint.h>
#include "report.h"

extern uint32_t stack_top, data_start, data_end, data_load, bss_start, bss_end;
int main(void);
void reset(void);

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    &stack_top, (const void *)reset};

static int semihosting(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;

    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void report(const char *text)
{
    semihosting(0x04, text);
}

#define SYSTICK ((volatile uint32_t *)0xE000E010u)

/* SysTick counts down once in 40 instructions with -icount shift=0. */
uint32_t instructions(void)
{
    return (0xFFFFFFu - SYSTICK[2]) * 40u;
}

void reset(void)
{
    uint32_t *to = &data_start;
    const uint32_t *from = &data_load;

    while (to < &data_end) {
        *to++ = *from++;
    }
    for (to = &bss_start; to < &bss_end; to++) {
        *to = 0;
    }
    SYSTICK[1] = 0xFFFFFFu;
    SYSTICK[0] = 5u;
    while (!SYSTICK[2]) {
    }
    main();
    semihosting(0x18, (const void *)0x20026u);
    for (;;) {
    }
}
