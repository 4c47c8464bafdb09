/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/name_log.h"

#include <fcntl.h>
#include <unistd.h>

#include "support/unit.h"
#include "wire/live.h"

static char folder[64], out[128];
static int dir_fd, log_fd;
static uint64_t used;

/* An empty log in a new folder. */
static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/opscope-name-log-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(out, sizeof out, "%s/run.osc", folder);
    dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    log_fd = openat(dir_fd, "strings", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    used = OSC_STRINGS_AT;
    return log_fd < 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlinkat(dir_fd, "strings", 0);
    unlink(out);
    close(dir_fd);
    close(log_fd);
    return rmdir(folder);
}

static void set_used(uint64_t bytes)
{
    const struct osc_live_strings header = {.used_bytes = bytes};

    assert_int_equal(ftruncate(log_fd, (off_t)bytes + 4096), 0); /* room is reserved */
    assert_int_equal(pwrite(log_fd, &header, sizeof header, 0), sizeof header);
    used = bytes;
}

/* Write the entry of S at OFFSET; where the next one is. */
static uint64_t write_entry(uint64_t offset, const char *s, size_t len)
{
    const uint32_t head[2] = {(uint32_t)len + 1, (uint32_t)osc_wire_hash(s, len)};

    assert_int_equal(pwrite(log_fd, head, sizeof head, (off_t)offset), sizeof head);
    assert_int_equal(pwrite(log_fd, s, len, (off_t)offset + 8), len);
    return (offset + 8 + len + 7) & ~UINT64_C(7);
}

static uint64_t add(const char *s)
{
    const uint64_t at = used;

    set_used(write_entry(used, s, strlen(s)));
    return at;
}

/* Whether the file at PATH has a STRINGS chunk with the entry S at OFFSET; how often. */
static unsigned count_in_file(uint64_t offset, const char *s)
{
    static unsigned char bytes[64 << 20];
    const int fd = open(out, O_RDONLY | O_CLOEXEC);
    const ssize_t len = read(fd, bytes, sizeof bytes);
    struct osc_wire_header h;
    unsigned n = 0;

    close(fd);
    for (size_t at = sizeof(struct osc_file_header); at < (size_t)len;
         at += osc_wire_chunk_bytes(h.payload_bytes)) {
        struct osc_wire_strings prefix;
        memcpy(&h, bytes + at, sizeof h);
        assert_true(osc_wire_header_is_good(&h));
        memcpy(&prefix, bytes + at + sizeof h, sizeof prefix);
        const uint64_t end = prefix.log_offset + h.payload_bytes - sizeof prefix;
        if (offset < prefix.log_offset || offset >= end)
            continue;
        const unsigned char *entry =
            bytes + at + sizeof h + sizeof prefix + (offset - prefix.log_offset);
        n += memcmp(entry + 8, s, strlen(s)) == 0 && entry[0] == (unsigned char)(strlen(s) + 1);
    }
    return n;
}

static void open_both(struct osc_name_log *log, struct osc_parts *f)
{
    *f = (struct osc_parts){.out = out, .recording = {1, 2}};
    assert_int_equal(osc_parts_open(f), OSC_OK);
    assert_int_equal(osc_name_log_open(log, dir_fd), OSC_OK);
}

TEST_WITH(names_are_written_once_in_each_part, set_up, tear_down)
{
    struct osc_name_log log;
    struct osc_parts f;

    open_both(&log, &f);
    set_used(OSC_STRINGS_AT);
    assert_int_equal(osc_name_log_append(&log, &f), OSC_OK);
    assert_int_equal(f.n_chunks, 0);
    const uint64_t a = add("aten::conv2d"), b = add("x");
    assert_int_equal(osc_name_log_append(&log, &f), OSC_OK);
    assert_int_equal(osc_name_log_append(&log, &f), OSC_OK);
    const uint64_t c = add("later");
    assert_int_equal(osc_name_log_append(&log, &f), OSC_OK);
    assert_int_equal(f.n_chunks, 2);
    assert_int_equal(count_in_file(a, "aten::conv2d"), 1);
    assert_int_equal(count_in_file(b, "x"), 1);
    assert_int_equal(count_in_file(c, "later"), 1);
    osc_name_log_rewind(&log);
    assert_int_equal(osc_name_log_append(&log, &f), OSC_OK);
    assert_int_equal(count_in_file(a, "aten::conv2d"), 2);
    osc_name_log_close(&log);
    osc_parts_forget(&f);
}

TEST_WITH(a_name_that_is_finished_late_comes_late, set_up, tear_down)
{
    struct osc_name_log log;
    struct osc_parts f;

    open_both(&log, &f);
    const uint64_t a = add("first"), hole = used;
    set_used(used + 24);
    const uint64_t second = used;
    set_used(used + 24);
    const uint64_t b = add("behind");
    assert_int_equal(osc_name_log_append(&log, &f), OSC_OK);
    assert_int_equal(f.n_chunks, 1);
    assert_int_equal(count_in_file(a, "first"), 1);
    assert_int_equal(count_in_file(b, "behind"), 1);
    assert_int_equal(log.n_holes, 1);
    assert_int_equal(osc_name_log_append(&log, &f), OSC_OK);
    assert_int_equal(f.n_chunks, 1);

    write_entry(second, "second in a hole", 16);
    assert_int_equal(osc_name_log_append(&log, &f), OSC_OK);
    assert_int_equal(count_in_file(second, "second in a hole"), 1);
    assert_int_equal(log.n_holes, 1);
    write_entry(hole, "first in a hole!", 16);
    assert_int_equal(osc_name_log_append(&log, &f), OSC_OK);
    assert_int_equal(count_in_file(hole, "first in a hole!"), 1);
    assert_int_equal(log.n_holes, 0);
    const uint32_t n = f.n_chunks;
    assert_int_equal(osc_name_log_append(&log, &f), OSC_OK);
    assert_int_equal(f.n_chunks, n);
    osc_name_log_close(&log);
    osc_parts_forget(&f);
}

TEST_WITH(an_unfinished_end_waits, set_up, tear_down)
{
    struct osc_name_log log;
    struct osc_parts f;

    open_both(&log, &f);
    const uint64_t a = used;
    set_used(used + 16);
    assert_int_equal(osc_name_log_append(&log, &f), OSC_OK);
    assert_int_equal(f.n_chunks, 0);
    write_entry(a, "ready", 5);
    assert_int_equal(osc_name_log_append(&log, &f), OSC_OK);
    assert_int_equal(count_in_file(a, "ready"), 1);
    assert_int_equal(log.n_holes, 0);
    osc_name_log_close(&log);
    osc_parts_forget(&f);
}

TEST_WITH(long_logs_and_the_longest_name_fit, set_up, tear_down)
{
    static char longest[16 << 20];
    struct osc_name_log log;
    struct osc_parts f;
    uint64_t at[1000];

    open_both(&log, &f);
    memset(longest, 'n', sizeof longest);
    for (int i = 0; i < 1000; i++) {
        char name[4000];
        snprintf(name, sizeof name, "%d%*s", i, 3000, ".");
        at[i] = add(name);
    }
    set_used(write_entry(used, longest, sizeof longest));
    const uint64_t last = add("last");
    assert_int_equal(osc_name_log_append(&log, &f), OSC_OK);
    assert_int_equal(count_in_file(last, "last"), 1);
    assert_int_equal(log.next, used);
    assert_in_range(f.bytes, used, used + 10000);
    for (int i = 0; i < 1000; i += 100) {
        char name[4000];
        snprintf(name, sizeof name, "%d%*s", i, 3000, ".");
        assert_int_equal(count_in_file(at[i], name), 1);
    }
    osc_name_log_close(&log);
    osc_parts_forget(&f);
}

TEST_WITH(without_a_log_there_is_an_error, set_up, tear_down)
{
    struct osc_name_log log;
    struct osc_parts f;

    open_both(&log, &f);
    assert_int_equal(osc_name_log_append(&log, &f), OSC_EIO); /* not even a header */
    osc_name_log_close(&log);
    unlinkat(dir_fd, "strings", 0);
    assert_int_equal(osc_name_log_open(&log, dir_fd), OSC_EIO);
    osc_parts_forget(&f);
}

UNIT_MAIN("name_log")
