/* SPDX-License-Identifier: Apache-2.0 */
#include "export/column_file.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "derive/derive.h"
#include "derive/part/view.h"
#include "export/export.h"
#include "export/redact.h"
#include "import/verify.h"
#include "support/fingerprint.h"
#include "support/mend.h"
#include "support/small_trace.h"
#include "support/unit.h"
#include "wire/column_layout.h"

#define EVENTS                                                                       \
    STEP(0, 0, 100)                                                                  \
    OP("aten::mm", 1, 1, 50, "'Input Dims':[[2,3],[3,4]],'Sequence number':7")       \
    CALL(1, 10, 5, 42, "")                                                           \
    KERNEL("gemm", 30, 10, 42)                                                       \
    MEMORY(1, 20, 512)                                                               \
    STEP(1, 100, 100)                                                                \
    OP("aten::add", 1, 110, 50, "'where':'/home/me/x.py'")                           \
    "{'ph':'s','id':1,'pid':1,'tid':1,'ts':11,'cat':'ac2g','name':'ac2g'},"          \
    "{'ph':'f','id':1,'pid':0,'tid':7,'ts':30,'cat':'ac2g','name':'ac2g','bp':'e'}," \
    "{'ph':'B','pid':1,'tid':2,'ts':5,'name':'open'},"                               \
    "{'ph':'E','pid':1,'tid':2,'ts':9},"

/* A file in memory. */
struct file {
    unsigned char *s; /* owned */
    size_t len, cap;
};

static osc_status take(void *ctx, const char *s, size_t len)
{
    struct file *const f = ctx;
    const osc_status st = osc_grow(&f->s, &f->cap, f->len + len, 1);

    if (st == OSC_OK) {
        memcpy(f->s + f->len, s, len);
        f->len += len;
    }
    return st;
}

static void free_file(struct file *f)
{
    osc_free(f->s);
    *f = (struct file){0};
}

static osc_status write_traces(struct osc_trace *const *traces, uint32_t n, bool is_redacted,
                               struct file *f)
{
    const struct osc_export x = {.traces = traces,
                                 .n_traces = n,
                                 .is_redacted = is_redacted,
                                 .sink = {.write = take, .ctx = f}};
    struct osc_err err = {0};

    return osc_exporter_find("osc")->write(&x, &err);
}

/* The small trace, loaded and written. */
static void write_small(struct osc_trace *t, struct file *f)
{
    struct osc_trace *const traces[] = {t};

    *f = (struct file){0};
    assert_true(small_load(t, EVENTS));
    assert_int_equal(write_traces(traces, 1, false, f), OSC_OK);
}

static osc_status read_part(struct osc_trace *t, const struct file *f, uint32_t part)
{
    const struct osc_import_options o = {.n_threads = 1, .part = part};
    struct osc_err err = {0};
    osc_status st = osc_import_memory(
        t, "small.osc", (struct osc_str){(const char *)f->s, (uint32_t)f->len}, &o, &err);

    if (st == OSC_OK)
        st = osc_trace_touch(t, 1, &err);
    if (st != OSC_OK)
        osc_trace_fini(t);
    return st;
}

static osc_status read_back(struct osc_trace *t, const struct file *f)
{
    return read_part(t, f, 0);
}

static uint64_t count_damage(const struct osc_trace *t)
{
    return t->findings.by_code[OSC_FINDING_corrupt].count +
           t->findings.by_code[OSC_FINDING_truncated].count;
}

/* The place of the payload of the N-th chunk of TYPE, or 0; *H is its header. */
static size_t find_chunk(const struct file *f, unsigned type, unsigned n,
                         struct osc_wire_header *h)
{
    for (size_t at = sizeof(struct osc_file_header); at + sizeof *h <= f->len;) {
        memcpy(h, f->s + at, sizeof *h);
        if (h->type == type && n-- == 0)
            return at + sizeof *h;
        at += (size_t)osc_wire_chunk_bytes(h->payload_bytes);
    }
    return 0;
}

static uint64_t print_of_events(const struct osc_trace *t)
{
    return mix_store(1, t, &t->events);
}

/* Write N bytes of F to the file PLACE. */
static void put_file(const char *place, const struct file *f, size_t n)
{
    FILE *const to = fopen(place, "w");

    assert_non_null(to);
    assert_int_equal(fwrite(f->s, 1, n, to), n);
    assert_int_equal(fclose(to), 0);
}

/* A trace with more columns than are read when its file is opened. */
static void write_long(struct file *f)
{
    static char text[1 << 17];
    struct osc_trace t = {0};
    struct osc_trace *const traces[] = {&t};
    size_t n = 0;

    *f = (struct file){0};
    for (int i = 0; i < 900; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "{'ph':'X','name':'a%d','pid':1,'tid':1,'ts':%d,'dur':1,"
                              "'args':{'n':%d,'s':'t%d'}},",
                              i % 5, i, i, i % 9);
    assert_true(small_load(&t, text));
    assert_int_equal(write_traces(traces, 1, false, f), OSC_OK);
    osc_trace_fini(&t);
}

/* Open the file of F, cut or overwritten to N bytes of WITH before its columns are read and
 * again afterwards; return the fingerprint of its events. */
static uint64_t print_of_spoiled(const struct file *f, const struct file *with, size_t n,
                                 struct osc_findings *findings)
{
    static const struct osc_import_options o = {.n_threads = 1};
    char place[] = "/tmp/opscope-columns-XXXXXX";
    const int fd = mkstemp(place);
    struct osc_trace t = {0};
    struct osc_err err = {0};

    assert_true(fd >= 0 && close(fd) == 0);
    put_file(place, f, f->len);
    assert_int_equal(osc_import_path(&t, place, &o, &err), OSC_OK);
    assert_null(t.events.chunks[1]->ts_ns);
    put_file(place, with, n);
    assert_int_equal(osc_trace_touch(&t, 1, &err), OSC_OK);
    put_file(place, with, 0);
    const uint64_t print = print_of_events(&t);
    *findings = t.findings;
    osc_trace_fini(&t);
    assert_int_equal(unlink(place), 0);
    return print;
}

/* A file may be changed in place at any time: what was read is a copy, and what comes then is
 * checked. */
TEST(files_may_change_under_a_reader)
{
    struct osc_findings findings;
    struct file f, other;

    write_long(&f);
    assert_true(f.len > 20000);
    other = f;
    other.s = osc_malloc(f.len);
    assert_non_null(other.s);
    memset(other.s, 0x55, f.len);
    const uint64_t whole = print_of_spoiled(&f, &f, f.len, &findings);

    assert_int_equal(findings.by_code[OSC_FINDING_truncated].count, 0);
    assert_int_equal(findings.by_code[OSC_FINDING_corrupt].count, 0);
    /* With the record that names the process. */
    assert_int_not_equal(whole, print_of_spoiled(&f, &f, 4096, &findings));
    assert_int_equal(findings.by_code[OSC_FINDING_truncated].count, 901);
    assert_int_not_equal(whole, print_of_spoiled(&f, &other, f.len, &findings));
    assert_int_equal(findings.by_code[OSC_FINDING_corrupt].count, 901);
    free_file(&other);
    free_file(&f);
}

/* What is read from a file, chunk by chunk, is what is read from memory. */
TEST(rows_that_are_left_out_of_a_file_are_those_left_out_of_memory)
{
    const struct osc_import_options o = {
        .n_threads = 1,
        .keep = {
            .is_on = true, .from_ns = 100000, .host_to_ns = 300000, .device_to_ns = 300000}};
    char place[] = "/tmp/opscope-columns-XXXXXX";
    const int fd = mkstemp(place);
    struct osc_trace t = {0}, in_memory = {0};
    struct osc_err err = {0};
    struct file f;

    assert_true(fd >= 0 && close(fd) == 0);
    write_long(&f);
    put_file(place, &f, f.len);
    assert_int_equal(osc_import_path(&t, place, &o, &err), OSC_OK);
    put_file(place, &f, 0);
    assert_int_equal(osc_import_memory(&in_memory, "memory",
                                       (struct osc_str){(const char *)f.s, (uint32_t)f.len}, &o,
                                       &err),
                     OSC_OK);
    assert_int_equal(osc_trace_touch(&t, 1, &err), OSC_OK);
    assert_int_equal(osc_trace_touch(&in_memory, 1, &err), OSC_OK);
    assert_int_equal(t.events.n_rows, 200);
    assert_int_equal(print_of_events(&t), print_of_events(&in_memory));
    osc_trace_fini(&t);
    osc_trace_fini(&in_memory);
    free_file(&f);
    assert_int_equal(unlink(place), 0);
}

/* The columns of a thousand ranks need no thousand descriptors. */
TEST(columns_are_read_at_once_where_descriptors_run_short)
{
    static const struct osc_import_options o = {.n_threads = 1};
    char place[] = "/tmp/opscope-columns-XXXXXX";
    const int fd = mkstemp(place);
    struct rlimit before, few;
    struct osc_trace t = {0};
    osc_status st = OSC_ENOMEM;
    struct file f;

    write_long(&f);
    put_file(place, &f, f.len);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){(rlim_t)fd + 2, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    /* Where memory is short as well, no rows are left for later: the file is closed. */
    for (long n = 0; n < 200 && st != OSC_OK; n++) {
        osc_mem_fail_after(n);
        st = osc_import_path(&t, place, &o, NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        assert_int_equal(osc_trace_touch(&t, 1, NULL), OSC_OK);
        assert_int_equal(count_damage(&t), 0);
        osc_trace_fini(&t);
    }
    assert_int_equal(st, OSC_OK);
    assert_int_equal(osc_import_path(&t, place, &o, NULL), OSC_OK);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(unlink(place), 0);
    assert_null(t.check);
    assert_non_null(t.events.chunks[1]->ts_ns);
    assert_int_equal(osc_trace_touch(&t, 1, NULL), OSC_OK);
    assert_int_equal(t.events.n_rows, 900);
    assert_int_equal(count_damage(&t), 0);
    osc_trace_fini(&t);
    free_file(&f);
    close(fd);
}

/* true, false and null take no words. */
TEST(keeps_ends_whose_arguments_have_no_words)
{
    struct osc_trace t = {0}, again = {0};
    struct osc_trace *const traces[] = {&t};
    struct file f = {0};

    assert_true(small_load(&t, "{'ph':'B','name':'a','pid':1,'tid':1,'ts':1},"
                               "{'ph':'E','pid':1,'tid':1,'ts':5,'args':{'ok':true}},"));
    assert_int_equal(write_traces(traces, 1, false, &f), OSC_OK);
    assert_int_equal(read_back(&again, &f), OSC_OK);
    assert_int_equal(again.events.n_rows, 1);
    assert_int_equal(osc_row_form(&again, again.events.chunks[1], 0)->n_slots, 1);
    assert_true(print_of_events(&again) == print_of_events(&t));
    assert_int_equal(count_damage(&again), 0);
    osc_trace_fini(&again);
    osc_trace_fini(&t);
    free_file(&f);
}

static bool has_device(const struct osc_trace *t, const char *name)
{
    for (uint32_t i = 0; i < t->n_tracks; i++)
        if (osc_str_eq(osc_trace_str(t, t->tracks[i].device), osc_str_c(name)))
            return true;
    return false;
}

/* A selection may name a device that has lost all its events. */
TEST(keeps_devices_without_an_event)
{
    struct osc_trace t = {0}, again = {0};
    struct osc_trace *const traces[] = {&t};
    struct file f = {0};

    assert_true(small_load(&t, "{'ph':'B','name':'a','pid':'CPU functions','tid':1,'ts':1},"
                               "{'ph':'E','pid':'CPU functions','tid':1,'ts':5,"
                               "'args':{'ok':true}},"
                               "{'ph':'E','pid':'CUDA functions','tid':0,'ts':7},"));
    assert_true(has_device(&t, "cuda:0"));
    assert_int_equal(write_traces(traces, 1, false, &f), OSC_OK);
    assert_int_equal(read_back(&again, &f), OSC_OK);
    assert_true(has_device(&again, "cuda:0"));
    osc_trace_fini(&again);
    osc_trace_fini(&t);
    free_file(&f);
}

TEST(says_the_same_when_it_is_opened_again)
{
    struct osc_trace t = {0}, again = {0};
    struct file f;

    write_small(&t, &f);
    assert_int_equal(read_back(&again, &f), OSC_OK);
    assert_true(print_of_events(&again) == print_of_events(&t));
    assert_int_equal(again.others.n_rows, 3); /* two ends of an arrow, a name; no end */
    assert_int_equal(count_damage(&again), 0);
    assert_true(osc_str_eq(osc_trace_str(&again, again.format), OSC_STR("chrome")));
    assert_int_equal(again.n_tracks, t.n_tracks);
    for (uint32_t i = 1; i < t.n_tracks; i++) {
        assert_int_equal(again.tracks[i].n_events, t.tracks[i].n_events);
        assert_int_equal(again.tracks[i].first_event.v, t.tracks[i].first_event.v);
        assert_int_equal(again.tracks[i].order, t.tracks[i].order);
    }
    /* Ids are found by text, and new texts added. */
    osc_sid id;
    assert_int_not_equal(osc_strings_find(&again.strings, OSC_STR("aten::mm")).v, 0);
    assert_int_equal(osc_strings_add(&again.strings, OSC_STR("fresh"), &id, NULL), OSC_OK);
    assert_true(osc_str_eq(osc_trace_str(&again, id), OSC_STR("fresh")));
    osc_trace_fini(&t);
    osc_trace_fini(&again);
    free_file(&f);
}

TEST(holds_several_traces)
{
    struct osc_trace one = {0}, two = {0}, again = {0};
    struct osc_trace *const traces[] = {&one, &two};
    struct file f = {0};

    assert_true(small_load(&one, EVENTS));
    assert_true(small_load(&two, OP("aten::relu", 1, 1, 5, "")));
    two.has_rank = true;
    two.rank = 3;
    assert_int_equal(write_traces(traces, 2, false, &f), OSC_OK);
    for (uint32_t part = 0; part < 2; part++) {
        assert_int_equal(read_part(&again, &f, part), OSC_OK);
        assert_int_equal(again.n_parts, 2);
        assert_int_equal(again.rank, part == 0 ? 0 : 3);
        assert_true(print_of_events(&again) == print_of_events(traces[part]));
        osc_trace_fini(&again);
    }
    assert_int_equal(read_part(&again, &f, 2), OSC_EFORMAT);
    osc_trace_fini(&one);
    osc_trace_fini(&two);
    free_file(&f);
}

static bool has_bytes(const struct file *f, const char *s)
{
    return memmem(f->s, f->len, s, strlen(s)) != NULL;
}

TEST(has_nothing_of_what_was_cut_or_redacted)
{
    const struct osc_selection first = {.steps = "@0"};
    struct osc_trace t = {0}, cut = {0}, again = {0};
    struct osc_trace *const traces[] = {&t}, *const views[] = {&cut};
    struct file f;

    write_small(&t, &f);
    assert_true(has_bytes(&f, "/home/me") && has_bytes(&f, "aten::add"));
    free_file(&f);
    assert_int_equal(osc_redact(&(struct osc_trace *){&t}, 1), OSC_OK);
    assert_int_equal(write_traces(traces, 1, true, &f), OSC_OK);
    assert_false(has_bytes(&f, "/home/me"));
    assert_true(has_bytes(&f, "aten::add"));
    assert_int_equal(read_back(&again, &f), OSC_OK);
    assert_int_equal(again.events.n_rows, t.events.n_rows);
    osc_trace_fini(&again);
    free_file(&f);
    assert_int_equal(osc_derive(&t, OSC_FACT_VIEWS, 1, NULL), OSC_OK);
    assert_int_equal(osc_view_make(&cut, &t, &first, 1, NULL), OSC_OK);
    assert_int_equal(write_traces(views, 1, true, &f), OSC_OK);
    assert_false(has_bytes(&f, "aten::add"));
    assert_int_equal(read_back(&again, &f), OSC_OK);
    assert_true(again.is_selected);
    assert_int_equal(again.events.n_rows, cut.events.n_rows);
    assert_true(print_of_events(&again) == print_of_events(&cut));
    osc_trace_fini(&again);
    osc_trace_fini(&cut);
    osc_trace_fini(&t);
    free_file(&f);
}

TEST(counts_what_a_wrong_byte_has_cost)
{
    struct osc_trace t = {0}, again = {0};
    struct file f;
    size_t n_silent = 0, n_events = 0, n_others = 0;

    write_small(&t, &f);
    for (size_t at = 0; at < f.len; at++) {
        f.s[at] ^= 0x40;
        assert_int_equal(read_back(&again, &f), OSC_OK);
        const uint64_t n_lost = t.events.n_rows - again.events.n_rows + 3 - again.others.n_rows;
        assert_true(count_damage(&again) >= n_lost);
        n_events += again.events.n_rows == 0;
        n_others += again.others.n_rows == 0;
        n_silent += count_damage(&again) == 0;
        if (again.events.n_rows > 0)
            assert_true(print_of_events(&again) == print_of_events(&t));
        osc_trace_fini(&again);
        f.s[at] ^= 0x40;
    }
    /* Of the file each store is a small part; zeroes behind payloads and second copies, which
     * nobody has looked at, cost nothing. */
    assert_true(n_events > 0 && n_events < f.len / 4);
    assert_true(n_others > 0 && n_others < f.len / 4);
    assert_true(n_silent < f.len * 3 / 4);
    osc_trace_fini(&t);
    free_file(&f);
}

TEST(gives_what_there_is_of_a_file_that_was_cut)
{
    struct osc_trace t = {0}, again = {0};
    struct osc_wire_header h = {0};
    struct file f;

    write_small(&t, &f);
    const size_t whole = f.len;
    const size_t tables = find_chunk(&f, OSC_CHUNK_TRACKS, 0, &h) + (size_t)h.payload_bytes;
    const size_t columns =
        find_chunk(&f, OSC_CHUNK_EVENTS + OSC_COLUMN_KIND, 0, &h) + (size_t)h.payload_bytes;
    for (f.len = 64; f.len < whole; f.len += 16) {
        const osc_status st = read_back(&again, &f);

        assert_int_equal(st, f.len < tables ? OSC_EFORMAT : OSC_OK);
        if (st != OSC_OK)
            continue;
        assert_int_equal(again.events.n_rows, f.len < columns ? 0 : t.events.n_rows);
        if (again.others.n_rows < 3)
            assert_true(count_damage(&again) > 0);
        osc_trace_fini(&again);
    }
    osc_trace_fini(&t);
    free_file(&f);
}

/* Put N bytes at P over the first value of the column and set the hashes right. */
static void lie(struct file *f, enum osc_wire_column k, const void *p, size_t n)
{
    struct osc_wire_header h;

    memcpy(f->s + find_chunk(f, OSC_CHUNK_EVENTS + (unsigned)k, 0, &h), p, n);
    mend(f->s, f->len);
    f->s[f->len - 1] ^= 1; /* the index still has the hashes of before */
}

TEST(loses_rows_that_point_outside)
{
    static const struct {
        enum osc_wire_column column;
        uint8_t n;
        int64_t value;
    } lies[] = {
        {OSC_COLUMN_TS, 8, INT64_MAX},     {OSC_COLUMN_TS, 8, INT64_MIN},
        {OSC_COLUMN_DUR, 8, -1},           {OSC_COLUMN_DUR, 8, INT64_MAX},
        {OSC_COLUMN_DUR, 8, 1000000},      {OSC_COLUMN_NAME, 4, 1 << 20},
        {OSC_COLUMN_NAME, 4, UINT32_MAX},  {OSC_COLUMN_FORM, 4, 0},
        {OSC_COLUMN_FORM, 4, 1000},        {OSC_COLUMN_TRACK, 4, 0},
        {OSC_COLUMN_TRACK, 4, UINT32_MAX}, {OSC_COLUMN_ARG_WORD, 4, 1 << 20},
        {OSC_COLUMN_ARG_WORD, 4, -1},      {OSC_COLUMN_KIND, 1, OSC_KIND_COUNT},
        {OSC_COLUMN_KIND, 1, -1},
    };
    struct osc_trace t = {0}, again = {0};
    struct file f;

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        write_small(&t, &f);
        lie(&f, lies[i].column, &lies[i].value, lies[i].n);
        assert_int_equal(read_back(&again, &f), OSC_OK);
        assert_int_equal(again.events.n_rows, 0);
        assert_int_equal(again.others.n_rows, 3);
        assert_true(count_damage(&again) >= t.events.n_rows);
        osc_trace_fini(&again);
        osc_trace_fini(&t);
        free_file(&f);
    }
}

/* The bytes of the file that is checked, as often as it is said. */
static bool note_total(void *ctx, uint64_t done_bytes, uint64_t total_bytes)
{
    assert_true(done_bytes <= total_bytes);
    *(uint64_t *)ctx = total_bytes;
    return true;
}

TEST(verifying_finds_values_that_point_outside)
{
    const uint32_t wrong = UINT32_MAX;
    struct osc_trace t = {0};
    struct osc_wire_header h;
    struct file f;

    write_small(&t, &f);
    /* The index would have the hashes of before. */
    f.len = find_chunk(&f, OSC_CHUNK_INDEX, 0, &h) - sizeof h;
    for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
        char path[] = "/tmp/opscope-verify-XXXXXX";
        uint64_t total_bytes = 0;
        struct osc_verify v = {.progress = note_total, .progress_ctx = &total_bytes};
        struct osc_err err = {0};
        const int fd = mkstemp(path);

        if (is_wrong)
            memcpy(f.s + find_chunk(&f, OSC_CHUNK_EVENTS + OSC_COLUMN_NAME, 0, &h), &wrong,
                   sizeof wrong);
        mend(f.s, f.len);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, f.s, f.len), f.len);
        assert_int_equal(osc_verify_path(&v, path, &err), OSC_OK);
        assert_int_equal(v.n_faults, is_wrong);
        assert_int_equal(total_bytes, f.len);
        (void)close(fd);
        (void)unlink(path);
    }
    osc_trace_fini(&t);
    free_file(&f);
}

TEST(believes_nothing_that_its_tables_say)
{
    static const uint32_t lies[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
    struct osc_trace t = {0}, again = {0};
    struct file f;
    size_t n_refused = 0;

    write_small(&t, &f);
    f.s[f.len - 1] ^= 1; /* no index */
    for (unsigned type = OSC_CHUNK_MODEL; type <= OSC_CHUNK_TRACKS; type++) {
        struct osc_wire_header h = {0};
        const size_t one = find_chunk(&f, type, 0, &h), two = find_chunk(&f, type, 1, &h);

        for (size_t i = 0; i + 4 <= h.payload_bytes; i += 4) {
            uint32_t before;

            memcpy(&before, f.s + one + i, sizeof before);
            for (size_t k = 0; k < sizeof lies / sizeof *lies; k++) {
                memcpy(f.s + one + i, &lies[k], sizeof before);
                memcpy(f.s + two + i, &lies[k], sizeof before);
                mend(f.s, f.len);
                const osc_status st = read_back(&again, &f);
                assert_true(st == OSC_OK || st == OSC_EFORMAT);
                n_refused += st == OSC_EFORMAT;
                if (st == OSC_OK && osc_derive(&again, 0x7f, 1, NULL) == OSC_OK)
                    (void)print_of_events(&again);
                osc_trace_fini(&again);
            }
            memcpy(f.s + one + i, &before, sizeof before);
            memcpy(f.s + two + i, &before, sizeof before);
        }
    }
    assert_true(n_refused > 0);
    osc_trace_fini(&t);
    free_file(&f);
}

TEST(gives_all_back_when_an_allocation_fails)
{
    struct osc_trace t = {0}, again = {0};
    struct osc_trace *const traces[] = {&t};
    struct file f;
    osc_status st = OSC_ENOMEM;

    write_small(&t, &f);
    for (long n = 0; st != OSC_OK; n++) {
        osc_mem_fail_after(n);
        st = read_back(&again, &f);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
    osc_trace_fini(&again);
    st = OSC_ENOMEM;
    for (long n = 0; st != OSC_OK; n++) {
        free_file(&f);
        osc_mem_fail_after(n);
        st = write_traces(traces, 1, true, &f);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
    free_file(&f);
    osc_trace_fini(&t);
}

TEST(leaves_out_while_loading_what_is_not_wanted)
{
    struct osc_import_options o = {
        .n_threads = 1,
        .keep = {.is_on = true, .from_ns = 100000, .host_to_ns = 110001, .device_to_ns = 0}};
    struct osc_trace t = {0}, again = {0};
    struct osc_err err = {0};
    struct file f;

    write_small(&t, &f);
    const struct osc_str bytes = {(const char *)f.s, (uint32_t)f.len};
    assert_int_equal(osc_import_memory(&again, "small.osc", bytes, &o, &err), OSC_OK);
    assert_int_equal(osc_trace_touch(&again, 1, &err), OSC_OK);
    assert_int_equal(again.events.n_rows, 3); /* the second step, what it calls, a begin */
    assert_int_equal(again.origin_ns, 0);     /* the trace begins where it did */
    assert_int_equal(again.others.n_rows, 3);
    osc_trace_fini(&again);
    o.keep = (struct osc_import_keep){.is_on = true, .is_scout = true};
    assert_int_equal(osc_import_memory(&again, "small.osc", bytes, &o, &err), OSC_OK);
    assert_int_equal(osc_derive(&again, OSC_FACT_STEPS, 1, &err), OSC_OK);
    assert_int_equal(again.events.n_rows, 2);
    assert_int_equal(again.n_steps, 2);
    osc_trace_fini(&again);
    osc_trace_fini(&t);
    free_file(&f);
}

TEST(keeps_what_the_file_says_of_devices)
{
    static const char text[] =
        "{\"deviceProperties\":[{\"id\":3,\"name\":\"GPU\",\"totalGlobalMem\":1000}],"
        "\"traceEvents\":[]}";
    const struct osc_import_options o = {.n_threads = 1};
    struct osc_trace t = {0}, again = {0};
    struct osc_trace *const traces[] = {&t};
    struct osc_err err = {0};
    struct file f = {0};

    assert_int_equal(osc_import_memory(&t, "devices.json", osc_str_c(text), &o, &err), OSC_OK);
    assert_int_equal(write_traces(traces, 1, false, &f), OSC_OK);
    assert_int_equal(read_back(&again, &f), OSC_OK);
    assert_int_equal(again.n_devices, 1);
    assert_int_equal(again.devices[0].index, 3);
    assert_int_equal(again.devices[0].limits.memory_bytes, 1000);
    assert_true(osc_str_eq(osc_trace_str(&again, again.devices[0].model), OSC_STR("GPU")));
    osc_trace_fini(&again);
    osc_trace_fini(&t);
    free_file(&f);
}

TEST(keeps_what_lines_say_of_frames)
{
    static const char text[] =
        "{'ph':'M','name':'process_name','pid':7,'args':{'name':'/host:CPU'}},"
        "{'ph':'M','name':'process_name','pid':11,'args':{'name':'/device:GPU:0'}},"
        "{'ph':'M','name':'thread_name','pid':11,'tid':4,'args':{'name':'XLA Ops'}},"
        "{'ph':'X','pid':7,'tid':1,'name':'$a.py:3 f','ts':1,'dur':9},"
        "{'ph':'X','pid':7,'tid':1,'name':'g','ts':2,'dur':3},"
        "{'ph':'X','pid':11,'tid':4,'name':'fusion','ts':5,'dur':2},";
    struct osc_trace t = {0}, again = {0};
    struct osc_trace *const traces[] = {&t};
    struct file f = {0};

    assert_true(small_load(&t, text));
    assert_int_equal(write_traces(traces, 1, false, &f), OSC_OK);
    assert_int_equal(read_back(&again, &f), OSC_OK);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(osc_row_form(&t, small_chunk(&t), i)->is_frame, i == 0);
        assert_int_equal(osc_row_form(&again, small_chunk(&again), i)->is_frame, i == 0);
    }
    osc_trace_fini(&again);
    osc_trace_fini(&t);
    free_file(&f);
}

TEST(stops_at_the_limit_of_memory_with_what_it_has)
{
    const struct osc_import_options o = {.n_threads = 1, .reserve = {.event_bytes = 1 << 24}};
    struct osc_trace t = {0}, again = {0};
    struct osc_err err = {0};
    struct file f;

    write_small(&t, &f);
    osc_mem_set_limit(osc_mem_held() + (32 << 20));
    assert_int_equal(osc_import_memory(&again, "small.osc",
                                       (struct osc_str){(const char *)f.s, (uint32_t)f.len}, &o,
                                       &err),
                     OSC_ELIMIT);
    assert_true(again.is_partial);
    assert_int_equal(osc_trace_touch(&again, 1, &err), OSC_OK);
    assert_int_equal(again.events.n_rows, 0);
    osc_mem_set_limit(SIZE_MAX);
    osc_trace_fini(&again);
    osc_trace_fini(&t);
    free_file(&f);
}

UNIT_MAIN("column_file")
