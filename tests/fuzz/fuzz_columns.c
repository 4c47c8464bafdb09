/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_columns.c - read any bytes as exported columns: no crash in any analysis.
 *
 * The hashes are corrected first, as an attacker would do: then only bounds checks protect the
 * analyses from the file. All facts are derived, all tables made, and the trace is written
 * again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/table_registry.h"
#include "derive/derive.h"
#include "export/export.h"
#include "import/import.h"
#include "import/osc/osc_file.h"
#include "support/mend.h"
#include "table/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static osc_status drop_rows(void *ctx, const struct osc_rows *rows)
{
    (void)ctx;
    (void)rows;
    return OSC_OK;
}

static osc_status drop_bytes(void *ctx, const char *s, size_t len)
{
    (void)ctx;
    (void)s;
    (void)len;
    return OSC_OK;
}

static void make_table(const struct osc_table_def *def, struct osc_trace *t)
{
    const struct osc_options options = {0};
    struct osc_partial part;
    const struct osc_partial *const parts = &part;
    const struct osc_query q = {
        .def = def, .parts = &parts, .n_parts = 1, .options = &options, .is_machine = true};
    struct osc_answer a = {0};
    struct osc_err err = {0};
    osc_status st = osc_derive(t, osc_table_facts(def), 1, &err);
    osc_partial_keep(&part, t);
    if (st == OSC_OK)
        st = osc_query_run(&q, &a, &err);
    if (st == OSC_OK)
        st = osc_answer_rows(&q, &a, drop_rows, NULL, &err);
    if (st != OSC_OK && st != OSC_EINVAL && st != OSC_ENOMEM)
        abort();
    osc_answer_fini(&a);
}

static void write_again(struct osc_trace *t, const char *form)
{
    struct osc_trace *const traces[] = {t};
    const struct osc_export x = {
        .traces = traces, .n_traces = 1, .n_threads = 1, .sink = {.write = drop_bytes}};
    struct osc_err err = {0};

    (void)osc_exporter_find(form)->write(&x, &err);
}

/* Import the file of SIZE bytes at DATA. Larger ones are real files, whose columns are read
 * when they are touched. */
static osc_status import(struct osc_trace *t, const uint8_t *data, size_t size,
                         const struct osc_import_options *o)
{
    const int fd = size > OSC_FILE_SMALL_BYTES ? memfd_create("fuzz", MFD_CLOEXEC) : -1;
    struct osc_err err = {0};
    char path[32];

    if (fd < 0)
        return osc_import_memory(t, "fuzz",
                                 (struct osc_str){(const char *)data, (uint32_t)size}, o, &err);
    if (write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const osc_status st = osc_import_path(t, path, o, &err);
    close(fd); /* the trace has its own */
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The size selects, so that the same input always runs the same way. */
    const struct osc_import_options o = {.n_threads = 1,
                                         .keep = {.is_on = size % 4 == 1 || size % 4 == 2,
                                                  .is_scout = size % 4 == 2,
                                                  .from_ns = 1500,
                                                  .host_to_ns = 30000,
                                                  .device_to_ns = 50000}};
    uint8_t *const copy = size <= UINT32_MAX ? malloc(size + 1) : NULL;
    struct osc_trace t = {0};
    struct osc_err err = {0};

    if (!copy)
        return 0;
    memcpy(copy, data, size);
    mend(copy, size);
    osc_status st = import(&t, copy, size, &o);
    free(copy);
    if (st == OSC_OK)
        st = osc_trace_touch(&t, 1, &err);
    for (size_t i = 0; st == OSC_OK && osc_tables[i]; i++)
        make_table(osc_tables[i], &t);
    if (st == OSC_OK) {
        write_again(&t, "json");
        write_again(&t, "osc");
    }
    osc_trace_fini(&t);
    return 0;
}
