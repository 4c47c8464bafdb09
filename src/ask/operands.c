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

void osc_operands_add(struct osc_strbuf *out, const struct osc_view *view,
                      const char *const *paths, size_t n)
{
    const struct {
        const char *option, *value;
    } lists[] = {{"--rank ", view->ranks}, {"--span ", view->spans}};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (!lists[i].value)
            continue;
        osc_strbuf_adds(out, lists[i].option);
        osc_shell_add_word(out, lists[i].value);
        osc_strbuf_addc(out, ' ');
    }
    for (size_t i = 0; i < n; i++) {
        osc_strbuf_adds(out, i > 0 ? " " : "");
        osc_operands_add_trace(out, paths[i]);
    }
}

void osc_operands_add_selection(struct osc_strbuf *out, const struct osc_view *view)
{
    const struct {
        const char *option, *value;
    } words[] = {{" --process ", view->process},
                 {" --thread ", view->thread},
                 {" --device ", view->device},
                 {" --steps ", view->steps}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!words[i].value)
            continue;
        osc_strbuf_adds(out, words[i].option);
        osc_shell_add_word(out, words[i].value);
    }
    if (view->has_from)
        osc_strbuf_addf(out, " --from %lldns", (long long)view->from_ns);
    if (view->has_to)
        osc_strbuf_addf(out, " --to %lldns", (long long)view->to_ns);
}
