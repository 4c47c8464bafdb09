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
    uint64_t n_bytes;          /* of all recordings, also those that were not read */
    unsigned loaded, recorded; /* sources that were there; those that recorded something */
    unsigned failed;           /* those that were there and could not record: a note told it */
    bool is_idle; /* a schedule or a flight recorder wrote nothing, not even this */
};

/* The bit of the collected source whose report has the key NAME, after the prefix; 0: none. */
static unsigned collected_bit(struct osc_str name)
{
    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_kind *const kind = &osc_source_kinds[i];
        const struct osc_str word = osc_str_c(kind->word);

        if (kind->is_collected && osc_str_starts(name, word) &&
            (name.len == word.len || name.s[word.len] == '.'))
            return kind->bit;
    }
    return 0;
}

static void look_at(struct hellos *h, const char *path)
{
    const struct osc_str failed = OSC_STR("source_failed.");
    const struct osc_str prefix = OSC_STR("source."); /* of a report of each that was loaded */
    struct osc_trace t = {0};
    struct osc_err ignored = {0};
    const struct osc_import_options options = {.n_threads = 1};

    if (osc_import_path(&t, path, &options, &ignored) != OSC_OK)
        return;
    for (uint32_t i = 0; i < t.n_metas; i++) {
        const struct osc_str key = osc_trace_str(&t, t.metas[i].key);

        if (osc_str_starts(key, OSC_STR("source.torch")))
            h->recorded |= OSC_SOURCES_TORCH;
        if (osc_str_starts(key, failed))
            h->failed |=
                collected_bit((struct osc_str){key.s + failed.len, key.len - failed.len});
        if (!osc_str_starts(key, prefix))
            continue;
        const unsigned bit =
            collected_bit((struct osc_str){key.s + prefix.len, key.len - prefix.len});
        h->loaded |= bit;
        h->recorded |= t.events.n_rows > 0 ? bit : 0u;
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
        if ((wanted & ~h.recorded) == 0)
            break;
    }
    if (dir)
        closedir(dir);
    return h;
}

void osc_report_sources(const char *directory, pid_t pid, unsigned wanted, unsigned named)
{
    if (wanted == 0)
        return;

    const struct hellos h = read_all(directory, wanted);
    if (h.n_bytes > BYTES_MAX)
        return;
    if ((wanted & OSC_SOURCES_TORCH) && !(h.recorded & OSC_SOURCES_TORCH) && !h.is_idle)
        osc_cli_error("[torch] recorded nothing: no process %s with PYTHONPATH as opscope run "
                      "sets it (python -I, -E and -S ignore it)",
                      wanted & OSC_SOURCE_TORCH_REPLACE ? "ran a profile of torch"
                                                        : "imported torch and used it");
    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_kind *const kind = &osc_source_kinds[i];

        if (!kind->is_collected || !(wanted & kind->bit) ||
            ((h.recorded | h.failed) & kind->bit))
            continue;
        if (h.loaded & kind->bit)
            osc_cli_error("[%s] the collector was loaded but recorded nothing: %s was paused, "
                          "or only names were created",
                          kind->word, kind->title);
        else if (named & kind->bit)
            osc_cli_error("[%s] nothing in PID %d loaded the collector (%s)", kind->word,
                          (int)pid, kind->unused);
    }
}
