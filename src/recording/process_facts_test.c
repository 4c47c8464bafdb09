/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/process_facts.h"

#include <unistd.h>

#include "support/unit.h"
#include "wire/chunk.h"

/* The value of KEY in LEN bytes of facts, to VALUE; false if there is none. */
static bool find(const unsigned char *facts, size_t len, const char *key, char value[8192])
{
    for (size_t at = 0; at < len;) {
        struct osc_wire_fact head;
        memcpy(&head, facts + at, sizeof head);
        const char *name = (const char *)facts + at + sizeof head;
        at += sizeof head + head.key_bytes + head.value_bytes;
        assert_in_range(at, 0, len);
        if (head.key_bytes == strlen(key) && memcmp(name, key, head.key_bytes) == 0) {
            memcpy(value, name + head.key_bytes, head.value_bytes);
            value[head.value_bytes] = '\0';
            return true;
        }
    }
    return false;
}

static const struct osc_process_facts given = {.start_unix_ns = UINT64_C(1700000000123456789),
                                               .ticks_hz = 2300000000,
                                               .clock_name = "tsc",
                                               .mode = "flight",
                                               .is_late = true};

TEST(tells_who_the_process_is)
{
    unsigned char out[OSC_PROCESS_FACTS_BYTES];
    char value[8192], pid[16];
    uint64_t n;

    setenv("OPSCOPE_RUN_ID", "abc", 1);
    setenv("RANK", "3", 1);
    setenv("OPSCOPE_SOURCES", "api,-itt,-x", 1);
    const size_t len = osc_process_facts_collect(&given, out, &n);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    assert_true(find(out, len, "pid", value));
    assert_string_equal(value, pid);
    assert_true(find(out, len, "start_unix_ns", value));
    assert_string_equal(value, "1700000000123456789");
    assert_true(find(out, len, "ticks_hz", value));
    assert_string_equal(value, "2300000000");
    assert_true(find(out, len, "exe", value));
    assert_non_null(strstr(value, "facts_test"));
    assert_true(find(out, len, "command", value));
    assert_true(find(out, len, "boot_id", value));
    assert_true(find(out, len, "host", value));
    assert_true(find(out, len, "cpus", value));
    assert_true(find(out, len, "run_id", value));
    assert_string_equal(value, "abc");
    assert_true(find(out, len, "failed_sources", value));
    assert_string_equal(value, "itt,x");
    assert_true(find(out, len, "sources", value));
    assert_string_equal(value, "api,-itt,-x");
    assert_true(find(out, len, "RANK", value));
    assert_string_equal(value, "3");
    assert_true(find(out, len, "mode", value));
    assert_string_equal(value, "flight");
    assert_true(find(out, len, "start", value));
    assert_string_equal(value, "late");
    assert_true(find(out, len, "clock", value));
    assert_in_range(n, 12, 30);
}

TEST(leaves_out_what_is_unknown_or_private)
{
    unsigned char out[OSC_PROCESS_FACTS_BYTES];
    const struct osc_process_facts less = {.clock_name = "monotonic"};
    char value[8192];
    uint64_t n;

    unsetenv("OPSCOPE_RUN_ID");
    setenv("OPSCOPE_SOURCES", "api,itt", 1);
    unsetenv("RANK");
    setenv("SECRET_TOKEN", "hunter2", 1);
    const size_t len = osc_process_facts_collect(&less, out, &n);
    assert_false(find(out, len, "ticks_hz", value));
    assert_false(find(out, len, "run_id", value));
    assert_false(find(out, len, "mode", value));
    assert_false(find(out, len, "start", value));
    assert_false(find(out, len, "failed_sources", value));
    assert_false(find(out, len, "RANK", value));
    assert_null(memmem(out, len, "hunter2", 7));
}

TEST(huge_values_leave_the_rest_whole)
{
    static char huge[100000];
    unsigned char out[OSC_PROCESS_FACTS_BYTES];
    char value[8192];
    uint64_t n;

    memset(huge, 'x', sizeof huge - 1);
    setenv("OPSCOPE_RUN_ID", huge, 1);
    setenv("RANK", huge, 1);
    setenv("PMI_RANK", huge, 1);
    setenv("SLURM_PROCID", "5", 1);
    const size_t len = osc_process_facts_collect(&given, out, &n);
    assert_in_range(len, 1, OSC_PROCESS_FACTS_BYTES);
    assert_true(find(out, len, "SLURM_PROCID", value));
    assert_string_equal(value, "5");
}

UNIT_MAIN("process_facts")
