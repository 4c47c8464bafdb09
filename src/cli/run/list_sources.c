/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/list_sources.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/show.h"
#include "sources/source_files.h"
#include "sources/source_kinds.h"

/* Each function adds to MISSING what its source lacks, and how to get it; or nothing. */

static void check_collector(struct osc_strbuf *missing)
{
    char path[PATH_MAX], why[256];

    if (!osc_find_collector(path, sizeof path))
        osc_strbuf_adds(missing, OSC_COLLECTOR
                        " is neither beside opscope nor installed: install all of opscope, or "
                        "run it from its build directory");
    else if (!osc_is_loadable(path, why, sizeof why))
        osc_strbuf_addf(missing, "%s cannot be loaded: %s", path, why);
}

/* VARIABLE may name the library of another tool. */
static void check_variable(struct osc_strbuf *missing, const char *variable)
{
    const char *const other = getenv(variable);
    char ours[PATH_MAX];

    if (other && *other && !(osc_find_collector(ours, sizeof ours) && strcmp(other, ours) == 0))
        osc_strbuf_addf(missing, "%s is set to %s: unset it, or use --force", variable, other);
}

/* Make MISSING what SOURCE lacks on this machine, and how to get it; or leave it empty. */
static void check(const struct osc_source_entry *source, struct osc_strbuf *missing)
{
    const struct osc_source_kind *const kind = source->kind;
    const char *const all = getenv("OPSCOPE");
    const char *lack;
    char text[512] = "";

    if (all && strcmp(all, "0") == 0)
        osc_strbuf_adds(missing, "OPSCOPE is 0, which switches all recording off: unset it");
    else if (kind->missing)
        osc_strbuf_adds(missing, kind->missing);
    else if (source->bit & OSC_SOURCES_COLLECTED)
        check_collector(missing);
    if (missing->len == 0 && kind->variable && !kind->is_list)
        check_variable(missing, kind->variable);
    if (missing->len == 0 && kind->lack && (lack = kind->lack()) != NULL)
        osc_strbuf_adds(missing, lack);
    if (missing->len == 0 && kind->check) {
        kind->check(text, sizeof text);
        osc_strbuf_adds(missing, text);
    }
}

int osc_list_sources(void)
{
    struct osc_strbuf out = {0};

    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_entry *const source = &osc_source_entries[i];
        const struct osc_source_kind *const kind = source->kind;
        struct osc_strbuf missing = {0};

        if (!kind->what)
            continue;
        check(source, &missing);
        const bool is_ready = missing.status == OSC_OK && missing.len == 0;
        osc_strbuf_addf(&out, "%-10s %-8s %s%s\n", source->word, is_ready ? "ready" : "missing",
                        is_ready                   ? kind->what
                        : missing.status == OSC_OK ? missing.s
                                                   : "out of memory",
                        is_ready && kind->remark ? kind->remark() : "");
        osc_strbuf_fini(&missing);
    }
    const int failed = out.status == OSC_OK ? osc_show_text(out.s)
                                            : osc_cli_fail(out.status, &(struct osc_err){0});
    osc_strbuf_fini(&out);
    return failed;
}
