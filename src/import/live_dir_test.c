/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged live directories beside a file that was not ended. */
#include "import/osc/live_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/pid.h"
#include "import/import.h"
#include "support/small_recording.h"
#include "support/unit.h"

#define BLOCKS_BYTES (OSC_LIVE_BLOCKS_AT + OSC_BLOCK_BYTES)
#define N_SLOTS      3u

static char folder[] = "/tmp/opscope-live-dir-XXXXXX";
static char path[64], live[80], blocks[96], strings[96];
static unsigned char block_bytes[BLOCKS_BYTES], string_bytes[256];
static struct small_recording rec;
static struct osc_trace trace;

static void write_file(const char *name, const void *bytes, size_t n)
{
    const int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

/* Make one thread, whose block has N_SLOTS instants that are not in the file. */
static void make_blocks(uint32_t name)
{
    const struct osc_live_header h = {
        .magic = OSC_LIVE_MAGIC,
        .version = OSC_LIVE_VERSION,
        .block_bytes = OSC_BLOCK_BYTES,
        .n_blocks = 1,
        .state = OSC_LIVE_ENDED,
        .n_threads = 1,
        .recording = {1, 2},
        .n_anchors = 2,
        .anchors = {{.ticks = 1, .monotonic_ns = 1}, {.ticks = 1001, .monotonic_ns = 1001}},
    };
    const struct osc_live_thread thread = {.state = OSC_THREAD_EXITED, .tid = 7, .ordinal = 1};
    static struct osc_block b;

    b = (struct osc_block){.seq = 9, .thread = 1, .tag = 9, .state = OSC_BLOCK_FULL};
    b.used_slots = N_SLOTS;
    for (uint32_t i = 0; i < N_SLOTS; i++)
        b.slots[i] = (struct osc_record_slot){
            200 + i, osc_record_word(name, b.tag, OSC_RECORD_INSTANT, 1)};
    memcpy(block_bytes, &h, sizeof h);
    memcpy(block_bytes + OSC_LIVE_THREADS_AT, &thread, sizeof thread);
    memcpy(block_bytes + OSC_LIVE_BLOCKS_AT, &b, sizeof b);
}

static void make_strings(void)
{
    const struct osc_live_strings h = {.magic = OSC_LIVE_MAGIC,
                                       .used_bytes = OSC_STRINGS_AT + rec.n_log,
                                       .reserved_bytes = sizeof string_bytes,
                                       .recording = {1, 2}};

    assert_true(OSC_STRINGS_AT + rec.n_log <= sizeof string_bytes);
    memset(string_bytes, 0, sizeof string_bytes);
    memcpy(string_bytes, &h, sizeof h);
    memcpy(string_bytes + OSC_STRINGS_AT, rec.log, rec.n_log);
}

/* Write a file with one instant, and a live directory with the others. */
static int set_up(void **state)
{
    (void)state;
    memset(folder + sizeof folder - 7, 'X', 6);
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.osc", folder);
    snprintf(live, sizeof live, "%s.live", path);
    snprintf(blocks, sizeof blocks, "%s/blocks", live);
    snprintf(strings, sizeof strings, "%s/strings", live);
    recording_begin(&rec);
    recording_add(&rec, OSC_RECORD_INSTANT, recording_name(&rec, "in the file"), 100, NULL, 0);
    recording_flush(&rec);
    make_blocks(recording_name(&rec, "in memory"));
    make_strings();
    write_file(path, rec.bytes, rec.n_bytes);
    if (mkdir(live, 0700) != 0)
        return -1;
    write_file(blocks, block_bytes, BLOCKS_BYTES);
    write_file(strings, string_bytes, OSC_STRINGS_AT + rec.n_log);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(blocks);
    (void)unlink(strings);
    (void)unlink(path);
    return rmdir(live) | rmdir(folder);
}

static uint64_t n_found(enum osc_finding_code code)
{
    return trace.findings.by_code[code].count;
}

/* Load the file. Returns the number of findings about missing data. */
static uint64_t load(void)
{
    static const struct osc_import_options one = {.n_threads = 1};

    memset(&trace, 0, sizeof trace);
    assert_int_equal(osc_import_path(&trace, path, &one, NULL), OSC_OK);
    const uint64_t n_bad = n_found(OSC_FINDING_truncated) + n_found(OSC_FINDING_corrupt);
    assert_in_range(trace.events.n_rows, 1, 1 + N_SLOTS);
    osc_trace_fini(&trace);
    return n_bad;
}

TEST_WITH(what_is_whole_lacks_nothing, set_up, tear_down)
{
    assert_int_equal(load(), 0);
}

/* Let the window begin at TICKS. Returns the number of events. */
static uint32_t n_rows_in_window(uint64_t ticks)
{
    static const struct osc_import_options one = {.n_threads = 1};

    memcpy(block_bytes + offsetof(struct osc_live_header, window_begin), &ticks, sizeof ticks);
    write_file(blocks, block_bytes, BLOCKS_BYTES);
    memset(&trace, 0, sizeof trace);
    assert_int_equal(osc_import_path(&trace, path, &one, NULL), OSC_OK);
    const uint32_t n = (uint32_t)trace.events.n_rows;

    osc_trace_fini(&trace);
    return n;
}

TEST_WITH(what_was_for_a_warm_up_is_left_out, set_up, tear_down)
{
    assert_int_equal(n_rows_in_window(201), N_SLOTS);
    assert_int_equal(n_rows_in_window(200 + N_SLOTS), 1);
    assert_int_equal(n_rows_in_window(OSC_LIVE_NO_WINDOW), 1);
    assert_int_equal(n_rows_in_window(0), 1 + N_SLOTS);
}

/* The header of the live directory says H; load the file. */
static void load_with(const struct osc_live_header *h)
{
    static const struct osc_import_options one = {.n_threads = 1};

    memcpy(block_bytes, h, sizeof *h);
    write_file(blocks, block_bytes, BLOCKS_BYTES);
    memset(&trace, 0, sizeof trace);
    assert_int_equal(osc_import_path(&trace, path, &one, NULL), OSC_OK);
}

TEST_WITH(losses_behind_a_window_are_those_since_its_end, set_up, tear_down)
{
    struct osc_live_header h;

    memcpy(&h, block_bytes, sizeof h);
    h.lost[OSC_LOSS_FULL] = 5;
    h.lost[OSC_LOSS_LATE] = 2;
    load_with(&h);
    assert_int_equal(n_found(OSC_FINDING_dropped_full), 5);
    assert_int_equal(n_found(OSC_FINDING_dropped_late), 2);
    osc_trace_fini(&trace);
    h.window_begin = 201;
    h.lost_before[OSC_LOSS_FULL] = 3;
    h.lost_before[OSC_LOSS_LATE] = 2;
    load_with(&h);
    assert_int_equal(n_found(OSC_FINDING_dropped_full), 2);
    assert_int_equal(n_found(OSC_FINDING_dropped_late), 0);
    osc_trace_fini(&trace);
}

TEST_WITH(a_full_disk_and_a_removed_file_are_told_from_a_kill, set_up, tear_down)
{
    static const uint32_t errors[] = {0, EIO, ENOSPC, EDQUOT, EFBIG, ENOENT, ESTALE, ENODATA};
    struct osc_live_header h;

    memcpy(&h, block_bytes, sizeof h);
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++) {
        h.write_error = errors[i];
        h.state = i % 2 ? OSC_LIVE_STOPPED : OSC_LIVE_ENDED;
        load_with(&h);
        assert_int_equal(n_found(OSC_FINDING_disk_full), i >= 2 && i <= 4);
        assert_int_equal(n_found(OSC_FINDING_output_harmed), i >= 5);
        assert_int_equal(n_found(OSC_FINDING_killed), i % 2 == 0);
        osc_trace_fini(&trace);
    }
}

/* Who is the process of the live directory, and whether anything holds the lock on it. */
struct owner {
    struct osc_pid process;
    bool is_locked, says_so;
};

/* The live directory of O is written, and read while O holds the lock. Whether it is said to be
 * still recording; if not, it must be said to be of a killed process. */
static bool is_recording(const struct owner *o)
{
    static const struct osc_import_options one = {.n_threads = 1};
    struct osc_live_header h;

    memcpy(&h, block_bytes, sizeof h);
    h.state = OSC_LIVE_RECORDING;
    h.pid = o->process.pid;
    h.pid_space = o->process.space;
    h.start_ticks = o->process.start_ticks;
    memcpy(h.boot_id, o->process.boot_id, sizeof h.boot_id);
    h.is_locked = o->says_so;
    memcpy(block_bytes, &h, sizeof h);
    write_file(blocks, block_bytes, BLOCKS_BYTES);
    const int fd = open(blocks, O_RDWR | O_CLOEXEC);

    assert_true(fd >= 0);
    if (o->is_locked)
        assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    memset(&trace, 0, sizeof trace);
    assert_int_equal(osc_import_path(&trace, path, &one, NULL), OSC_OK);
    const bool is_so = n_found(OSC_FINDING_still_recording) == 1;

    assert_int_equal(n_found(OSC_FINDING_killed), !is_so);
    osc_trace_fini(&trace);
    /* Looking at the lock leaves no lock behind. */
    if (!o->is_locked)
        assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    close(fd);
    return is_so;
}

TEST_WITH(it_still_records_while_the_lock_is_held, set_up, tear_down)
{
    struct owner o = {.is_locked = true, .says_so = true};

    osc_pid_get_self(&o.process);
    assert_true(is_recording(&o));
    o.is_locked = false; /* a copy, or another process has the number now */
    assert_false(is_recording(&o));
}

TEST_WITH(it_records_no_more_if_only_a_child_holds_the_lock, set_up, tear_down)
{
    struct owner o = {.is_locked = true, .says_so = true};

    osc_pid_get_self(&o.process);
    if (osc_pid_find(&o.process) == OSC_PID_UNKNOWN)
        skip();
    o.process.start_ticks--;
    assert_false(is_recording(&o));
}

TEST_WITH(a_process_elsewhere_is_judged_by_the_lock, set_up, tear_down)
{
    struct owner o = {.is_locked = true, .says_so = true};

    osc_pid_get_self(&o.process);
    o.process.space++;
    o.process.pid = 1;
    assert_true(is_recording(&o));
    o.is_locked = false;
    assert_false(is_recording(&o));
}

TEST_WITH(without_locks_the_process_decides, set_up, tear_down)
{
    struct owner o = {.is_locked = false};

    osc_pid_get_self(&o.process);
    if (osc_pid_find(&o.process) == OSC_PID_UNKNOWN)
        skip();
    assert_true(is_recording(&o));
    o.process.start_ticks--;
    assert_false(is_recording(&o));
    o.process.start_ticks++;
    o.process.space++;
    assert_false(is_recording(&o));
}

/* Its recorder held the lock, but could store only the number of the process. */
TEST_WITH(without_more_of_the_process_the_lock_decides, set_up, tear_down)
{
    struct owner o = {.process = {.pid = (uint32_t)getpid()}, .is_locked = true};

    assert_true(is_recording(&o));
    o.is_locked = false;
    assert_false(is_recording(&o));
}

TEST_WITH(blocks_cut_anywhere_are_told, set_up, tear_down)
{
    for (off_t n = BLOCKS_BYTES - 1; n >= 0;) {
        assert_int_equal(truncate(blocks, n), 0);
        assert_true(load() > 0);
        /* Cut at every byte that is used, elsewhere in steps. */
        if (n > (off_t)OSC_LIVE_BLOCKS_AT + 100)
            n -= 997;
        else if (n > (off_t)OSC_LIVE_BLOCKS_AT || n <= 200)
            n--;
        else
            n = n > 70000 ? n - 60013 : n > 4200 + 211 ? n - 211 : 200;
    }
}

TEST_WITH(names_cut_anywhere_are_told, set_up, tear_down)
{
    for (off_t n = (off_t)(OSC_STRINGS_AT + rec.n_log) - 1; n >= 0; n--) {
        assert_int_equal(truncate(strings, n), 0);
        assert_true(load() > 0);
    }
}

/* The C library's name of pread(), which may be an inline function that checks its caller. */
#if defined _FILE_OFFSET_BITS && _FILE_OFFSET_BITS == 64
#define PREAD "pread64"
#else
#define PREAD "pread"
#endif

/* Names are still to be added, just before a byte of their file is read. */
static bool is_growing;

ssize_t osc_growing_pread(int fd, void *to, size_t n, off_t at) __asm__(PREAD);

ssize_t osc_growing_pread(int fd, void *to, size_t n, off_t at)
{
    struct stat read, names;

    if (is_growing && fstat(fd, &read) == 0 && stat(strings, &names) == 0 &&
        read.st_ino == names.st_ino) {
        is_growing = false;
        write_file(strings, string_bytes, OSC_STRINGS_AT + rec.n_log);
    }
    return preadv(fd, &(struct iovec){.iov_base = to, .iov_len = n}, 1, at);
}

TEST_WITH(names_that_are_added_meanwhile_are_not_cut, set_up, tear_down)
{
    assert_int_equal(truncate(strings, OSC_STRINGS_AT), 0);
    is_growing = true;
    assert_int_equal(load(), 0);
    if (is_growing) /* the reader calls another function than this one */
        skip();
}

TEST_WITH(files_that_are_missing_are_told, set_up, tear_down)
{
    assert_int_equal(unlink(strings), 0);
    assert_int_equal(load(), 1);
    assert_int_equal(unlink(blocks), 0);
    assert_int_equal(load(), 1);
}

/* Flip a bit of byte I, or flip it back. */
static void flip_string_byte(size_t i)
{
    string_bytes[i] = (unsigned char)(string_bytes[i] ^ 1u << i % 8);
}

TEST_WITH(a_byte_that_is_wrong_costs_no_record_of_the_file, set_up, tear_down)
{
    for (size_t i = 0; i < OSC_STRINGS_AT + rec.n_log; i++) {
        flip_string_byte(i);
        write_file(strings, string_bytes, OSC_STRINGS_AT + rec.n_log);
        const uint64_t n_bad = load();
        assert_true(n_bad > 0 || i >= sizeof(uint64_t));
        flip_string_byte(i);
    }
    write_file(strings, string_bytes, OSC_STRINGS_AT + rec.n_log);
    for (size_t i = 0; i < 200; i++) {
        const int fd = open(blocks, O_WRONLY | O_CLOEXEC);
        const unsigned char wrong = block_bytes[i] ^ (unsigned char)(1 << i % 8);

        assert_int_equal(pwrite(fd, &wrong, 1, (off_t)i), 1);
        const bool is_newer = i >= 8 && i < 12;
        const uint64_t n_bad = load();
        assert_true(n_bad > 0 || i >= 16 || is_newer);
        assert_int_equal(pwrite(fd, &block_bytes[i], 1, (off_t)i), 1);
        close(fd);
    }
}

UNIT_MAIN("live_dir")
