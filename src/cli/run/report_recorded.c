/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/report_recorded.h"

#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "analysis/quality/sample_patterns.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/run/report_sources.h"
#include "import/import.h"
#include "recording/switches.h"

/* At most so much is read. */
#define BYTES_MAX ((uint64_t)16 << 20)

struct reading {
    const struct osc_recorded_asked *asked;
    struct osc_sources_seen sources;
    struct osc_sample_patterns samples;
    uint64_t n_bytes; /* of all recordings, also those that were not read */
    uint32_t n_read;
    bool has_failed; /* some could not be read */
};

/* Whether T is of the run RUN_ID, or of none. */
static bool is_of_run(const struct osc_trace *t, const char *run_id)
{
    for (uint32_t i = 0; i < t->n_metas; i++)
        if (osc_str_eq(osc_trace_str(t, t->metas[i].key), OSC_STR("run_id")))
            return osc_str_eq(osc_trace_str(t, t->metas[i].value), osc_str_c(run_id));
    return true;
}

/* One that cannot be read might have had what is missing, so then nothing is said of samples.
 */
static void look_at(struct reading *r, const char *path)
{
    struct osc_trace t = {0};
    struct osc_err ignored = {0};
    const struct osc_import_options options = {.n_threads = 1};

    if (osc_import_path(&t, path, &options, &ignored) != OSC_OK) {
        r->has_failed = true;
    } else if (is_of_run(&t, r->asked->run_id)) {
        osc_sources_seen_add(&r->sources, &t);
        osc_sample_patterns_look(&r->samples, &t);
        r->n_read++;
    }
    osc_trace_fini(&t);
}

/* Whether nothing more is to be found. */
static bool is_done(const struct reading *r)
{
    return r->samples.n == 0 && (r->asked->sources & ~r->sources.recorded) == 0;
}

/* Stop as soon as nothing is missing, or it would take long. */
static void read_all(struct reading *r, const char *directory)
{
    DIR *const dir = is_done(r) ? NULL : opendir(directory);
    char path[PATH_MAX];
    struct stat st;

    for (const struct dirent *e; dir && !is_done(r) && (e = readdir(dir));) {
        if (!osc_str_ends(osc_str_c(e->d_name), OSC_STR(".osc")))
            continue;
        if (snprintf(path, sizeof path, "%s/%s", directory, e->d_name) >= (int)sizeof path ||
            stat(path, &st) != 0) {
            r->has_failed = true;
            continue;
        }
        r->n_bytes += (uint64_t)st.st_size;
        if (r->n_bytes > BYTES_MAX)
            break;
        look_at(r, path);
    }
    if (dir)
        closedir(dir);
}

/* Put into RULES those of LIST, as of --sample, and what they sample less of into PATTERNS,
 * which borrows from RULES. */
static void read_rules(const char *list, struct osc_switch_rules *rules,
                       struct osc_sample_patterns *patterns)
{
    static const struct osc_switch_rules none;

    if (!list || osc_switch_rules_add(&none, &osc_switch_samples, list, rules) != OSC_OK)
        return;
    for (uint32_t i = 0; i < rules->n; i++)
        if (rules->v[i].value != 1)
            osc_sample_patterns_add(patterns, osc_str_c(rules->v[i].pattern));
}

/* Say in one line each which of PATTERNS sampled nothing. */
static void report_samples(const struct osc_sample_patterns *patterns)
{
    struct osc_strbuf why = {0};

    for (uint32_t i = 0; i < patterns->n; i++) {
        osc_strbuf_clear(&why);
        if (osc_sample_pattern_why(&patterns->v[i], false, &why) && why.status == OSC_OK)
            osc_cli_error("--sample: %.*s", (int)why.len, why.s);
    }
    osc_strbuf_fini(&why);
}

void osc_report_recorded(const char *directory, const struct osc_recorded_asked *asked)
{
    struct osc_switch_rules rules;
    struct reading r = {.asked = asked, .sources.why_idle = asked->why_idle};

    read_rules(asked->sample, &rules, &r.samples);
    read_all(&r, directory);
    if (r.n_bytes > BYTES_MAX)
        return;
    osc_report_sources(&r.sources, asked->pid, asked->sources, asked->named);
    if (r.n_read > 0 && !r.has_failed)
        report_samples(&r.samples);
}
