/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Print all tables of traces as text at several widths, and as CSV: what names.py checks.
 *
 *   show_tables FILE...
 *
 * A file is read once. Each table is preceded by a line that begins with the character RS
 * (0x1e), with its file, name, grouping and form: csv, or text and the width of a terminal, 0
 * for a pipe. Notes to the user begin with US (0x1f).
 */
#include "opscope/trace.h"

#include <stdio.h>
#include <string.h>

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
    static const struct {
        const char *format;
        unsigned width;
    } forms[] = {{"csv", 0}, {"text", 0}, {"text", 80}, {"text", 100}, {"text", 120}};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        /* Text has rows of operators that count and that the other forms have not. */
        const struct osc_question q = {.table = table,
                                       .group_by = group_by,
                                       .limit = strcmp(table, "operators") == 0 ? -1 : 100};
        const struct osc_layout layout = {.format = forms[i].format,
                                          .width = forms[i].width,
                                          .write = put,
                                          .note = put_note,
                                          .ctx = stdout};
        struct osc_err err = {0};

        printf("\x1e%s\t%s\t%s\t%s %u\n", file, table, group_by ? group_by : "",
               forms[i].format, forms[i].width);
        if (osc_ask_text(set, NULL, &q, &layout, &err) != OSC_OK)
            fprintf(stderr, "%s: %s: %s\n", file, table, err.message);
    }
}

/* All groupings, and several at once. */
static const char *const groupings[][2] = {
    {"kernels", "op"},
    {"kernels", "cause"},
    {"kernels", "graph"},
    {"operators", "shape"},
    {"operators", "stack"},
    {"operators", "shape,stack"},
    {"operators", "dtype"},
    {"operators", "shape,dtype"},
    {"modules", "annotation"},
    {"modules", "line"},
    {"ranges", "process"},
    {"ranges", "thread"},
    {"ranges", "track"},
    {"ranges", "category"},
    {"ranges", "step"},
    {"ranges", "process,thread"},
    {"ranges", "thread,step"},
    {"ranges", "track,category,step"},
    {"ranges", "process,thread,track,category,step"},
};

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
        for (size_t k = 0; k < sizeof groupings / sizeof *groupings; k++)
            show(set, path, groupings[k][0], groupings[k][1]);
        osc_set_release(set);
    }
    return 0;
}
