/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Print all tables of traces as text at several widths, and as CSV: what names.py checks.
 *
 *   show_tables FILE...
 *
 * A file is read once. Each table is preceded by a line that begins with the character RS
 * (0x1e), with its file, name, grouping and width; 0 is CSV. Notes to the user begin with US
 * (0x1f).
 */
#include "opscope/trace.h"

#include <stdio.h>

static int put(void *ctx, const char *s, size_t len)
{
    return fwrite(s, 1, len, ctx) == len ? 0 : -1;
}

static void put_note(void *ctx, const char *line)
{
    fprintf(ctx, "\x1f%s\n", line);
}

/* Print TABLE of the trace FILE. A grouping that does not apply prints nothing. */
static void show(struct osc_set *set, const char *file, const char *table, const char *group_by)
{
    static const unsigned widths[] = {0, 80, 100, 120};

    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const struct osc_question q = {.table = table, .group_by = group_by, .limit = 100};
        const struct osc_layout layout = {.format = widths[i] ? "text" : "csv",
                                          .width = widths[i],
                                          .write = put,
                                          .note = put_note,
                                          .ctx = stdout};
        struct osc_err err = {0};

        printf("\x1e%s\t%s\t%s\t%u\n", file, table, group_by ? group_by : "", widths[i]);
        if (osc_ask_text(set, NULL, &q, &layout, &err) != OSC_OK)
            fprintf(stderr, "%s: %s: %s\n", file, table, err.message);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *const path = argv[i];
        const struct osc_how how = {.n_threads = 2};
        struct osc_set *set = NULL;
        struct osc_err err = {0};

        if (osc_set_open(&set, &path, 1, &how, &err) != OSC_OK)
            continue; /* no trace */
        for (size_t k = 0; osc_catalog_name(k); k++)
            show(set, path, osc_catalog_name(k), NULL);
        show(set, path, "kernels", "op");
        show(set, path, "kernels", "cause");
        show(set, path, "kernels", "graph");
        show(set, path, "operators", "shape");
        show(set, path, "ranges", "process,thread");
        show(set, path, "ranges", "track,category,step");
        osc_set_release(set);
    }
    return 0;
}
