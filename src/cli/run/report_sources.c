/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/report_sources.h"

#include <stdint.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/run/source_list.h"

/* The bit of the collected source whose report has the key NAME, after the prefix; 0: none. */
static unsigned collected_bit(struct osc_str name)
{
    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_entry *const source = &osc_source_entries[i];
        const struct osc_str word = osc_str_c(source->word);

        if (source->bit & OSC_SOURCES_COLLECTED && osc_str_starts(name, word) &&
            (name.len == word.len || name.s[word.len] == '.'))
            return source->bit;
    }
    return 0;
}

void osc_sources_seen_add(struct osc_sources_seen *seen, const struct osc_trace *t)
{
    const struct osc_str failed = OSC_STR("source_failed.");
    const struct osc_str prefix = OSC_STR("source."); /* of a report of each that was loaded */

    for (uint32_t i = 0; i < t->n_metas; i++) {
        const struct osc_str key = osc_trace_str(t, t->metas[i].key);

        if (osc_str_starts(key, OSC_STR("source.torch")))
            seen->recorded |= OSC_SOURCES_TORCH;
        if (osc_str_starts(key, failed))
            seen->failed |=
                collected_bit((struct osc_str){key.s + failed.len, key.len - failed.len});
        if (!osc_str_starts(key, prefix))
            continue;
        const unsigned bit =
            collected_bit((struct osc_str){key.s + prefix.len, key.len - prefix.len});
        seen->loaded |= bit;
        seen->recorded |= t->events.n_rows > 0 ? bit : 0u;
    }
    seen->is_idle |= t->findings.by_code[OSC_FINDING_nothing_dumped].count > 0 ||
                     t->findings.by_code[OSC_FINDING_no_window].count > 0;
}

void osc_report_sources(const struct osc_sources_seen *seen, pid_t pid, unsigned wanted,
                        unsigned named)
{
    const bool replaces = wanted & OSC_SOURCE_TORCH_REPLACE;

    const bool lacks_torch =
        (wanted & OSC_SOURCES_TORCH) && !(seen->recorded & OSC_SOURCES_TORCH) && !seen->is_idle;

    if (lacks_torch && seen->why_idle)
        osc_cli_error("[torch] recorded nothing: %s", seen->why_idle);
    else if (lacks_torch)
        osc_cli_error("[torch] recorded nothing: no process %s with PYTHONPATH as opscope run "
                      "sets it (python -I, -E and -S ignore it)",
                      replaces ? "ran a profile of torch" : "imported torch and used it");
    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_entry *const source = &osc_source_entries[i];

        if (!(wanted & OSC_SOURCES_COLLECTED & source->bit) ||
            ((seen->recorded | seen->failed) & source->bit))
            continue;
        if (seen->loaded & source->bit)
            osc_cli_error("[%s] the collector was loaded but recorded nothing: %s was paused, "
                          "or only names were created",
                          source->word, source->kind->title);
        else if (named & source->bit)
            osc_cli_error("[%s] nothing in PID %d loaded the collector (%s)", source->word,
                          (int)pid, source->kind->unused);
    }
}
