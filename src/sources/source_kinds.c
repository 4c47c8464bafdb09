/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/source_kinds.h"

#define DECLARE(name, folder, word) \
    extern const struct osc_source_kind osc_source_kind_##folder;
OSC_SOURCE_LIST(DECLARE)
#undef DECLARE

#define ENTRY(name, folder, word) {OSC_SOURCE_##name, word, &osc_source_kind_##folder},
const struct osc_source_entry osc_source_entries[OSC_SOURCE_COUNT] = {OSC_SOURCE_LIST(ENTRY)};
#undef ENTRY

unsigned osc_sources_built(void)
{
    unsigned bits = 0;

    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++)
        bits |= osc_source_entries[i].kind->missing ? 0u : osc_source_entries[i].bit;
    return bits;
}
