/*
 * A plugin for qemu that counts the instructions between two functions of a program.
 *
 * qemu-system-... -plugin count_instructions.so,begin=ADDRESS,end=ADDRESS,passes=N prints their sum
 * over N passes from one to the other and ends qemu. The few declarations of qemu's plugin
 * interface that it needs are repeated here, since Debian has no package with the header.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
void qemu_plugin_register_vcpu_tb_trans_cb(
    qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(
    struct qemu_plugin_tb *block, void (*callback)(unsigned, void *), int flags, void *data);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);

int qemu_plugin_version = 1;

static uint64_t begin, end, passes, executed, started, sum;

static void on_block(unsigned cpu, void *length)
{
    (void)cpu;
    executed += (uintptr_t)length;
}

static void on_begin(unsigned cpu, void *length)
{
    on_block(cpu, length);
    started = executed;
}

/* The function's own instructions do not count. */
static void on_end(unsigned cpu, void *length)
{
    (void)cpu;
    (void)length;
    sum += executed - started;
    if (--passes == 0) {
        printf("instructions %" PRIu64 "\n", sum);
        fflush(stdout);
        _Exit(0);
    }
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    uint64_t address = qemu_plugin_tb_vaddr(block);
    void *length = (void *)(uintptr_t)qemu_plugin_tb_n_insns(block);

    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(
        block, address == begin ? on_begin : address == end ? on_end : on_block, 0, length);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    int i;

    (void)info;
    for (i = 0; i < argc; i++) {
        if (strncmp(argv[i], "begin=", 6) == 0) {
            begin = strtoull(argv[i] + 6, NULL, 0);
        } else if (strncmp(argv[i], "end=", 4) == 0) {
            end = strtoull(argv[i] + 4, NULL, 0);
        } else if (strncmp(argv[i], "passes=", 7) == 0) {
            passes = strtoull(argv[i] + 7, NULL, 0);
        }
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
