/* Says what it found through the serial port; simavr stops when it sleeps for good. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include "report.h"

void report(const char *text)
{
    UCSR0B = _BV(TXEN0);
    while (*text) {
        while (!(UCSR0A & _BV(UDRE0))) {
        }
        UDR0 = (uint8_t)*text++;
    }
}

__attribute__((destructor)) static void stop(void)
{
    cli();
    sleep_enable();
    sleep_cpu();
}
