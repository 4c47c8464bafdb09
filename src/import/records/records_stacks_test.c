/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/records_stacks.h"

#include <sys/stat.h>
#include <unistd.h>

#include "support/loaded_recording.h"
#include "support/unit.h"

static struct small_recording rec;
static struct osc_trace trace;

/* The payload of a MODULES chunk. */
static unsigned char payload[8192];
static size_t payload_bytes;

static void add_module(struct osc_wire_module m, const char *path)
{
    m.path_bytes = (uint32_t)strlen(path);
    const size_t padded = (m.path_bytes + 7) & ~(size_t)7;

    assert_in_range(padded, 1, sizeof payload - payload_bytes - sizeof m);
    memcpy(payload + payload_bytes, &m, sizeof m);
    memset(payload + payload_bytes + sizeof m, 0, padded);
    memcpy(payload + payload_bytes + sizeof m, path, m.path_bytes);
    payload_bytes += sizeof m + padded;
}

/* Add an operator with the stack of the N addresses at FRAMES. */
static void add_stack(const uint64_t *frames, uint32_t n, enum osc_stack_end end)
{
    recording_add(&rec, OSC_RECORD_BEGIN + 1, recording_name(&rec, "op"), 100, NULL, 0);
    recording_add(&rec, OSC_RECORD_ARG_STACK, end, n, frames, n);
    recording_add(&rec, OSC_RECORD_END, 0, 200, NULL, 0);
}

static void load(const struct osc_import_options *o)
{
    if (rec.n_slots > 0)
        recording_flush(&rec);
    recording_chunk(&rec, OSC_CHUNK_MODULES, payload, payload_bytes, 1);
    recording_end(&rec);
    recording_load(&rec, &trace, o);
}

static struct osc_str stack_of(uint32_t i)
{
    const struct osc_chunk *c = trace.events.chunks[1];
    struct osc_arg arg;

    if (!osc_row_arg(&trace, c, i, OSC_ARG_KEY_CALL_STACK, &arg))
        return OSC_STR("");
    assert_int_equal(arg.type, OSC_ARG_STRING);
    return osc_trace_str(&trace, arg.sid);
}

static void assert_stack(uint32_t i, const char *text)
{
    const struct osc_str got = stack_of(i);

    assert_int_equal(got.len, strlen(text));
    assert_memory_equal(got.s, text, got.len);
}

static int begin(void **state)
{
    (void)state;
    payload_bytes = 0;
    recording_begin(&rec);
    return 0;
}

static int end(void **state)
{
    (void)state;
    osc_trace_fini(&trace);
    return 0;
}

TEST_WITH(addresses_are_told_by_module_and_offset, begin, end)
{
    const struct osc_import_options all = {0};

    add_module((struct osc_wire_module){.start = 0x1000, .end = 0x2000, .file_offset = 0x500},
               "/no/such/liba.so");
    add_module((struct osc_wire_module){.start = 0x3000, .end = 0x4000}, "b;c");
    add_stack((const uint64_t[]){0x1011, 0x2001, 0x3001, 0x4000, 0}, 5, OSC_STACK_WHOLE);
    add_stack((const uint64_t[]){0x1000, 0x1001}, 2, OSC_STACK_CUT);
    add_stack(NULL, 0, OSC_STACK_BROKEN);
    load(&all);
    assert_stack(0, "liba.so+0x510;0x2000;b,c+0x0;b,c+0xfff");
    assert_stack(1, "0xfff;liba.so+0x500;...");
    assert_stack(2, "");
}

TEST_WITH(the_last_module_at_an_address_counts, begin, end)
{
    const struct osc_import_options all = {0};

    add_module((struct osc_wire_module){.start = 0x1000, .end = 0x2000}, "/first");
    add_module((struct osc_wire_module){.start = 0x1800, .end = 0x2000}, "/second");
    add_stack((const uint64_t[]){0x1011, 0x1811}, 2, OSC_STACK_WHOLE);
    load(&all);
    assert_stack(0, "first+0x10;second+0x10");
}

/* The function whose name is to be found. */
__attribute__((noinline)) static size_t find_me(struct osc_wire_module *m)
{
    char line[512];
    unsigned long long start, past, offset;
    FILE *maps = fopen("/proc/self/maps", "r");
    size_t n = 0;

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%llx-%llx %*s %llx", &start, &past, &offset) == 3 &&
            (uintptr_t)find_me >= start && (uintptr_t)find_me < past) {
            *m = (struct osc_wire_module){.start = start, .end = past, .file_offset = offset};
            n++;
        }
    (void)fclose(maps);
    return n;
}

TEST_WITH(functions_have_their_names_while_the_file_is_the_same, begin, end)
{
    const struct osc_import_options all = {0};
    const uint64_t address = (uintptr_t)find_me + 1; /* as if it began with a call */
    struct osc_wire_module m;
    struct stat st;
    char path[256], text[320];
    const ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);

    assert_in_range(len, 1, sizeof path - 2);
    path[len] = '\0';
    assert_int_equal(find_me(&m), 1);
    assert_int_equal(stat(path, &st), 0);
    m.file_bytes = (uint64_t)st.st_size;
    m.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    add_module(m, path);
    add_stack(&address, 1, OSC_STACK_WHOLE);
    load(&all);
    (void)snprintf(text, sizeof text, "find_me [%s]", strrchr(path, '/') + 1);
    assert_stack(0, text);
    osc_trace_fini(&trace);

    recording_begin(&rec);
    payload_bytes = 0;
    m.mtime_ns++;
    add_module(m, path);
    add_stack(&address, 1, OSC_STACK_WHOLE);
    load(&all);
    (void)snprintf(text, sizeof text, "%s+0x%llx", strrchr(path, '/') + 1,
                   (unsigned long long)(address - 1 - m.start + m.file_offset));
    assert_stack(0, text);
}

TEST_WITH(modules_that_make_no_sense_are_damage, begin, end)
{
    const struct osc_import_options all = {0};

    add_module((struct osc_wire_module){.start = 0x1000, .end = 0x2000}, "/first");
    payload_bytes -= 1;
    add_stack((const uint64_t[]){0x1011}, 1, OSC_STACK_WHOLE);
    load(&all);
    assert_stack(0, "0x1010");
    assert_int_equal(trace.findings.by_code[OSC_FINDING_corrupt].count, 1);
}

UNIT_MAIN("records_stacks")
