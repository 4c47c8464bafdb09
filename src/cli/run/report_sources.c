/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/report_sources.h"

#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/run/source_list.h"
#include "import/import.h"

/* The user waits for this, so at most so much is read. */
#define BYTES_MAX ((uint64_t)16 << 20)

struct hellos {
    uint64_t n_bytes; /* of all recordings, also those that were not read */
    bool has_itt;     /* ITT's collector has recorded something */
    bool has_torch;   /* a recorder for torch was there */
    bool was_loaded;  /* ITT's collector */
    bool is_idle;     /* a schedule or a flight recorder wrote nothing, not even this */
};

static void look_at(struct hellos *h, const char *path)
{
    struct osc_trace t = {0};
    struct osc_err ignored = {0};
    const struct osc_import_options options = {.n_threads = 1};

    if (osc_import_path(&t, path, &options, &ignored) != OSC_OK)
        return;
    for (uint32_t i = 0; i < t.n_metas; i++) {
        const struct osc_str key = osc_trace_str(&t, t.metas[i].key);

        h->has_torch |= osc_str_starts(key, OSC_STR("source.torch"));
        if (!osc_str_starts(key, OSC_STR("source.itt")))
            continue;
        h->was_loaded = true;
        h->has_itt |= t.events.n_rows > 0;
    }
    h->is_idle |= t.findings.by_code[OSC_FINDING_nothing_dumped].count > 0 ||
                  t.findings.by_code[OSC_FINDING_no_window].count > 0;
    osc_trace_fini(&t);
}

/* Look at the recordings in DIRECTORY until those of the WANTED sources are found. */
static struct hellos read_all(const char *directory, unsigned wanted)
{
    struct hellos h = {0};
    DIR *const dir = opendir(directory);
    char path[PATH_MAX];
    struct stat st;

    for (const struct dirent *e; dir && (e = readdir(dir));) {
        if (!osc_str_ends(osc_str_c(e->d_name), OSC_STR(".osc")) ||
            snprintf(path, sizeof path, "%s/%s", directory, e->d_name) >= (int)sizeof path ||
            stat(path, &st) != 0)
            continue;
        h.n_bytes += (uint64_t)st.st_size;
        if (h.n_bytes > BYTES_MAX)
            break;
        look_at(&h, path);
        if ((h.has_itt || !(wanted & OSC_SOURCE_ITT)) &&
            (h.has_torch || !(wanted & OSC_SOURCES_TORCH)))
            break;
    }
    if (dir)
        closedir(dir);
    return h;
}

void osc_report_sources(const char *directory, pid_t pid, unsigned wanted, bool names_itt)
{
    if (wanted == 0)
        return;

    const struct hellos h = read_all(directory, wanted);
    if (h.n_bytes > BYTES_MAX)
        return;
    if ((wanted & OSC_SOURCES_TORCH) && !h.has_torch && !h.is_idle)
        osc_cli_error("[torch] recorded nothing: no process %s with PYTHONPATH as opscope run "
                      "sets it (python -I, -E and -S ignore it)",
                      wanted & OSC_SOURCE_TORCH_REPLACE ? "ran a profile of torch"
                                                        : "imported torch and used it");
    if (!(wanted & OSC_SOURCE_ITT) || h.has_itt)
        return;
    if (h.was_loaded)
        osc_cli_error("[itt] the collector was loaded but recorded nothing: ITT was paused, or "
                      "only names were created");
    else if (names_itt)
        osc_cli_error("[itt] no library in PID %d loaded the collector (nothing called ITT, or "
                      "the program changed INTEL_LIBITTNOTIFY64)",
                      (int)pid);
}
