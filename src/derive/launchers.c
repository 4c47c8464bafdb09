/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/launchers.h"

bool osc_launcher_is_graph(const struct osc_trace *t, const struct osc_facts *f,
                           const struct osc_work *work)
{
    if (work->call == 0)
        return false;
    const osc_row row = {f->links.calls[work->call - 1].row};
    const struct osc_chunk *const c = osc_chunk_of(&t->events, row);

    return (f->classes.names[c->name[osc_row_place(row)]] & OSC_NAME_GRAPH) != 0;
}

enum osc_launcher osc_launcher_of(const struct osc_trace *t, const struct osc_facts *f,
                                  const struct osc_work *work)
{
    if (work->call == 0)
        return OSC_LAUNCHER_NONE;
    const uint32_t node = osc_optree_owner(&f->tree, f->links.calls[work->call - 1].node);

    if (node != 0 && (f->tree.flags[node - 1] & OSC_NODE_ROW))
        return OSC_LAUNCHER_OPERATOR;
    return osc_launcher_is_graph(t, f, work) ? OSC_LAUNCHER_GRAPH : OSC_LAUNCHER_CALL;
}

const char *osc_launcher_text(enum osc_launcher l)
{
    static const char *const texts[OSC_LAUNCHERS] = {
        [OSC_LAUNCHER_OPERATOR] = "operator",
        [OSC_LAUNCHER_GRAPH] = "graph",
        [OSC_LAUNCHER_CALL] = "runtime call",
        [OSC_LAUNCHER_NONE] = "not recorded",
    };

    return texts[l];
}
