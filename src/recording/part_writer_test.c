/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/part_writer.h"

#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], out[128];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/opscope-file-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(out, sizeof out, "%s/run.osc", folder);
    return 0;
}

static int remove_folder(void **state)
{
    char path[256];

    (void)state;
    unlink(out);
    for (int i = 2; i < 200; i++) {
        snprintf(path, sizeof path, "%s/run.%d.osc", folder, i);
        unlink(path);
    }
    return rmdir(folder);
}

static struct osc_parts new_file(void)
{
    return (struct osc_parts){.out = out, .recording = {11, 22}};
}

/* The whole file at PATH; its size. */
static size_t slurp(const char *path, unsigned char *to, size_t room)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, to, room);

    close(fd);
    return n < 0 ? 0 : (size_t)n;
}

static osc_status append_records(struct osc_parts *f, size_t len, uint64_t n)
{
    static unsigned char bytes[100000];
    const struct osc_wire_header header = {.type = OSC_CHUNK_RECORDS,
                                           .payload_bytes = len,
                                           .n_items = n,
                                           .first_ticks = 5,
                                           .last_ticks = 9};

    memset(bytes, 'r', sizeof bytes);
    return osc_parts_append(f, header, bytes);
}

/* Walk the LEN bytes of a file; how many chunks, each good, and what the last one is. */
static unsigned walk(const unsigned char *bytes, size_t len, unsigned *last_type)
{
    struct osc_file_header file;
    struct osc_wire_header h;
    uint64_t n_records = 0;
    unsigned n = 0;

    memcpy(&file, bytes, sizeof file);
    assert_true(osc_file_header_is_good(&file));
    assert_int_equal(file.recording[0], 11);
    assert_int_equal(file.recording[1], 22);
    for (size_t at = sizeof file; at + sizeof h <= len; n++) {
        memcpy(&h, bytes + at, sizeof h);
        assert_true(osc_wire_header_is_good(&h));
        assert_int_equal(h.n_before, n_records);
        assert_int_equal(h.payload_hash, osc_wire_hash(bytes + at + sizeof h, h.payload_bytes));
        at += osc_wire_chunk_bytes(h.payload_bytes);
        assert_in_range(at, 0, len);
        n_records += h.type == OSC_CHUNK_RECORDS ? h.n_items : 0;
        *last_type = h.type;
    }
    return n;
}

static const struct osc_wire_end stopped = {.reason = OSC_END_STOPPED, .ticks = 77};

TEST_WITH(a_file_is_walked_and_found_by_its_index, make_folder, remove_folder)
{
    static unsigned char bytes[1 << 20];
    struct osc_parts f = new_file();
    struct osc_trailer trailer;
    struct osc_wire_index_entry entry;
    struct osc_wire_header h;
    struct stat st;
    unsigned last = 0;

    assert_int_equal(osc_parts_open(&f), OSC_OK);
    assert_int_equal(append_records(&f, 1, 3), OSC_OK);
    assert_int_equal(append_records(&f, 0, 0), OSC_OK);
    assert_int_equal(append_records(&f, 90000, 4), OSC_OK);
    assert_int_equal(f.all_records, 7);
    assert_int_equal(osc_parts_close(&f, &stopped), OSC_OK);
    assert_int_equal(lstat(out, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);

    const size_t len = slurp(out, bytes, sizeof bytes);
    assert_int_equal(walk(bytes, len, &last), 5);
    assert_int_equal(last, OSC_CHUNK_INDEX);
    memcpy(&trailer, bytes + len - sizeof trailer, sizeof trailer);
    assert_int_equal(trailer.magic, OSC_TRAILER_MAGIC);
    memcpy(&h, bytes + trailer.index_offset, sizeof h);
    assert_int_equal(h.type, OSC_CHUNK_INDEX);
    assert_int_equal(h.n_items, 4);
    memcpy(&entry, bytes + trailer.index_offset + sizeof h + 2 * sizeof entry, sizeof entry);
    assert_int_equal(entry.header.payload_bytes, 90000);
    assert_int_equal(entry.header.magic, 0);
    entry.header.magic = OSC_CHUNK_MAGIC;
    assert_memory_equal(&entry.header, bytes + entry.offset, sizeof h);
    osc_parts_forget(&f);
}

TEST_WITH(parts_can_be_read_alone_and_the_oldest_go, make_folder, remove_folder)
{
    static unsigned char bytes[1 << 20];
    struct osc_parts f = new_file();
    char path[256];
    unsigned last;

    f.limit_bytes = 100000;
    for (int part = 1; part <= 9; part++) {
        assert_int_equal(osc_parts_open(&f), OSC_OK);
        assert_int_equal(append_records(&f, 20000, 1), OSC_OK);
        assert_int_equal(osc_parts_close(&f, &stopped), OSC_OK);
    }
    assert_string_equal(f.path + strlen(folder), "/run.9.osc");
    assert_int_equal(access(out, F_OK), -1);
    uint64_t total = 0;
    for (int part = 2; part <= 9; part++) {
        snprintf(path, sizeof path, "%s/run.%d.osc", folder, part);
        const size_t len = slurp(path, bytes, sizeof bytes);
        total += len;
        if (len)
            assert_int_equal(walk(bytes, len, &last), 3);
        assert_int_equal(len != 0, part >= 6);
    }
    assert_in_range(total, 80000, 100000);
    osc_parts_forget(&f);
}

TEST_WITH(a_full_disk_leaves_whole_chunks, make_folder, remove_folder)
{
    static unsigned char bytes[1 << 20];
    struct osc_parts f = new_file();
    struct rlimit old, low;
    unsigned last;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(osc_parts_open(&f), OSC_OK);
    assert_int_equal(append_records(&f, 1000, 1), OSC_OK);
    getrlimit(RLIMIT_FSIZE, &old);
    low = (struct rlimit){5000, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &low);
    assert_int_equal(append_records(&f, 8000, 1), OSC_EIO);
    assert_int_equal(f.error, EFBIG);
    assert_int_equal(walk(bytes, slurp(out, bytes, sizeof bytes), &last), 1);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(append_records(&f, 8000, 1), OSC_OK);
    assert_int_equal(f.error, 0);
    assert_int_equal(osc_parts_close(&f, &stopped), OSC_OK);
    assert_int_equal(walk(bytes, slurp(out, bytes, sizeof bytes), &last), 4);
    osc_parts_forget(&f);
}

TEST_WITH(a_descriptor_that_the_host_closed_is_opened_again, make_folder, remove_folder)
{
    static unsigned char bytes[1 << 20];
    struct osc_parts f = new_file();
    unsigned last;

    assert_int_equal(osc_parts_open(&f), OSC_OK);
    const int fd = osc_fd_get(&f.fd);
    const int other = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(other, fd);
    assert_int_equal(append_records(&f, 1000, 1), OSC_OK);
    assert_int_equal(osc_parts_close(&f, &stopped), OSC_OK);
    assert_int_equal(walk(bytes, slurp(out, bytes, sizeof bytes), &last), 3);
    assert_true(fcntl(fd, F_GETFD) >= 0);
    close(fd);
    close(other);

    assert_int_equal(osc_parts_open(&f), OSC_OK);
    close(osc_fd_get(&f.fd));
    unlink(f.path);
    assert_int_equal(append_records(&f, 1000, 1), OSC_EIO);
    assert_int_equal(f.error, EBADF);
    osc_parts_forget(&f);
}

/* What every part begins with. */
static void append_facts(struct osc_parts *f)
{
    assert_int_equal(append_records(f, 100, 1), OSC_OK);
}

/* Append to F after HARM was done to it, and end it; returns how many chunks are at PATH. */
static unsigned go_on_after(struct osc_parts *f, int harm, bool is_anew_expected,
                            const char *path)
{
    static unsigned char bytes[300000];
    const struct osc_wire_end end = {.reason = OSC_END_STOPPED, .ticks = 9};
    bool is_anew;
    unsigned last;

    assert_int_equal(osc_parts_look(f, &is_anew), OSC_OK);
    assert_int_equal(f->harm, harm);
    assert_int_equal(is_anew, is_anew_expected);
    if (is_anew)
        append_facts(f);
    assert_int_equal(osc_parts_look(f, &is_anew), OSC_OK);
    assert_false(is_anew);
    assert_int_equal(append_records(f, 1000, 10), OSC_OK);
    assert_int_equal(osc_parts_close(f, &end), OSC_OK);
    const unsigned n = walk(bytes, slurp(path, bytes, sizeof bytes), &last);

    assert_int_equal(last, OSC_CHUNK_INDEX);
    osc_parts_forget(f);
    return n;
}

/* A file of three chunks, the first 100 bytes long, that is untouched. */
static struct osc_parts three_chunks(void)
{
    struct osc_parts f = new_file();
    bool is_anew;

    assert_int_equal(osc_parts_open(&f), OSC_OK);
    append_facts(&f);
    assert_int_equal(append_records(&f, 5000, 10), OSC_OK);
    assert_int_equal(append_records(&f, 5000, 10), OSC_OK);
    assert_int_equal(osc_parts_look(&f, &is_anew), OSC_OK);
    assert_int_equal(f.harm, 0);
    assert_false(is_anew);
    return f;
}

TEST_WITH(a_removed_file_is_made_anew, make_folder, remove_folder)
{
    struct osc_parts f = three_chunks();

    assert_int_equal(unlink(out), 0);
    assert_int_equal(go_on_after(&f, ENOENT, true, out), 4); /* facts, records, end, index */
}

TEST_WITH(a_cut_file_goes_on_after_its_last_whole_chunk, make_folder, remove_folder)
{
    static const struct {
        off_t size;
        unsigned n_chunks;
    } cuts[] = {{0, 4}, {10, 4}, {200, 4}, {5500, 6}};

    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct osc_parts f = three_chunks();

        assert_int_equal(truncate(out, cuts[i].size), 0);
        assert_int_equal(go_on_after(&f, ENODATA, true, out), cuts[i].n_chunks);
    }
}

/* Between the look and the append, which makes the file long again. */
TEST_WITH(a_file_that_was_cut_before_an_append_is_told, make_folder, remove_folder)
{
    static const struct {
        off_t size;
        unsigned n_chunks;
    } cuts[] = {{0, 4}, {10, 4}, {100, 4}, {200, 4}, {3000, 5}};

    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct osc_parts f = three_chunks();

        assert_int_equal(truncate(out, cuts[i].size), 0);
        assert_int_equal(append_records(&f, 5000, 10), OSC_OK);
        assert_int_equal(go_on_after(&f, ENODATA, true, out), cuts[i].n_chunks);
    }
}

TEST_WITH(a_moved_file_goes_on_where_it_is, make_folder, remove_folder)
{
    struct osc_parts f = three_chunks();
    char moved[192];

    (void)snprintf(moved, sizeof moved, "%s/run.2.osc", folder);
    assert_int_equal(rename(out, moved), 0);
    assert_int_equal(go_on_after(&f, ESTALE, false, moved), 6);
}

TEST_WITH(where_a_removed_file_has_no_folder_nothing_is_made, make_folder, remove_folder)
{
    struct osc_parts f = three_chunks();
    bool is_anew;

    assert_int_equal(unlink(out), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(osc_parts_look(&f, &is_anew), OSC_EIO);
    assert_int_equal(f.harm, ENOENT);
    assert_int_equal(f.error, ENOENT);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(go_on_after(&f, ENOENT, true, out), 4);
}

TEST_WITH(where_nothing_can_be_created_nothing_is_open, make_folder, remove_folder)
{
    struct osc_parts f = {.out = "/nowhere/at/all.osc"};
    char longest[2 * OSC_PARTS_PATH_BYTES];

    assert_int_equal(osc_parts_open(&f), OSC_EIO);
    assert_int_equal(f.error, ENOENT);
    assert_false(f.is_open);
    assert_int_equal(append_records(&f, 1, 1), OSC_EIO);
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    f.out = longest;
    assert_int_equal(osc_parts_open(&f), OSC_EIO);
    assert_int_equal(f.error, ENAMETOOLONG);
    osc_parts_forget(&f);
}

TEST_WITH(a_discarded_part_leaves_its_number, make_folder, remove_folder)
{
    struct osc_parts f = new_file();

    assert_int_equal(osc_parts_open(&f), OSC_OK);
    assert_int_equal(osc_parts_close(&f, &stopped), OSC_OK);
    assert_int_equal(osc_parts_open(&f), OSC_OK);
    assert_int_equal(f.part, 2);
    osc_parts_discard(&f);
    osc_parts_discard(&f);
    assert_int_equal(access(f.path, F_OK), -1);
    assert_int_equal(access(out, F_OK), 0);
    assert_int_equal(osc_parts_open(&f), OSC_OK);
    assert_int_equal(f.part, 2);
    osc_parts_forget(&f);
}

static void make_file(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

TEST_WITH(only_a_recording_or_an_empty_file_is_replaced, make_folder, remove_folder)
{
    struct osc_parts f = new_file();
    char other[160];
    struct stat st;

    make_file(out, "");
    assert_int_equal(osc_parts_open(&f), OSC_OK);
    assert_int_equal(osc_parts_close(&f, &stopped), OSC_OK);
    f = new_file();
    assert_int_equal(osc_parts_open(&f), OSC_OK);
    osc_parts_discard(&f);

    make_file(out, "somebody's text");
    assert_int_equal(osc_parts_open(&f), OSC_EIO);
    assert_int_equal(f.error, EEXIST);
    assert_int_equal(stat(out, &st), 0);
    assert_int_equal(st.st_size, strlen("somebody's text"));
    unlink(out);

    assert_int_equal(mkfifo(out, 0600), 0);
    assert_int_equal(osc_parts_open(&f), OSC_EIO);
    assert_int_equal(f.error, EEXIST);
    assert_int_equal(stat(out, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    unlink(out);

    snprintf(other, sizeof other, "%s/other", folder);
    make_file(other, "");
    assert_int_equal(symlink(other, out), 0);
    assert_int_equal(osc_parts_open(&f), OSC_EIO);
    assert_int_equal(lstat(out, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    unlink(other);
    osc_parts_forget(&f);
}

TEST_WITH(a_file_that_was_not_ended_is_gone_on_with_and_ended, make_folder, remove_folder)
{
    static unsigned char bytes[1 << 20];
    struct osc_wire_index_entry chunks[2];
    struct osc_parts f = new_file(), later = new_file();
    unsigned last = 0;

    assert_int_equal(osc_parts_open(&f), OSC_OK);
    assert_int_equal(append_records(&f, 100, 3), OSC_OK);
    assert_int_equal(append_records(&f, 200, 4), OSC_OK);
    memcpy(chunks, f.index, sizeof chunks);
    assert_int_equal(append_records(&f, 300, 5), OSC_OK); /* as if it were torn */
    osc_parts_forget(&f);

    assert_int_equal(osc_parts_resume(&later, 2, chunks, 2), OSC_EIO); /* there is no part 2 */
    assert_int_equal(osc_parts_resume(&later, 1, chunks, 2), OSC_OK);
    assert_int_equal(append_records(&later, 400, 6), OSC_OK);
    assert_int_equal(osc_parts_close(&later, &stopped), OSC_OK);
    const size_t len = slurp(out, bytes, sizeof bytes);
    assert_int_equal(walk(bytes, len, &last), 5);
    assert_int_equal(last, OSC_CHUNK_INDEX);
    assert_int_equal(later.n_records, 13);
    osc_parts_forget(&later);
}

UNIT_MAIN("part_writer")
