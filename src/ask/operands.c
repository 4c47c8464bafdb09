/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/operands.h"

#include <string.h>

#include "analysis/table_registry.h"
#include "base/shell.h"

static bool is_command(const char *name)
{
    static const char *const names[] = {
#define COMMAND_NAME(name) #name,
        OSC_COMMAND_LIST(COMMAND_NAME)
#undef COMMAND_NAME
            "view",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

void osc_operands_add_trace(struct osc_strbuf *out, const char *path)
{
    struct osc_strbuf word = {0};

    if (strcmp(path, "-") == 0) {
        osc_strbuf_adds(out, "- < FILE");
        return;
    }
    if (path[0] == '-' || osc_table_find(path) || is_command(path))
        osc_strbuf_adds(&word, "./");
    osc_strbuf_adds(&word, path);
    osc_shell_add_word(out, word.s ? word.s : path);
    out->status = out->status == OSC_OK ? word.status : out->status;
    osc_strbuf_fini(&word);
}

void osc_operands_add(struct osc_strbuf *out, const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        osc_strbuf_adds(out, i > 0 ? " " : "");
        osc_operands_add_trace(out, paths[i]);
    }
}
