/* SPDX-License-Identifier: Apache-2.0 */
#include "table/pieces.h"

#include "base/hash.h"
#include "base/idmap.h"
#include "base/mem.h"

void osc_piece_of(const struct osc_trace *t, struct osc_strbuf *out)
{
    static const char *const keys[] = {"pid", "host_name", "boot_id", "run_id"};
    struct osc_str value;

    if (!osc_trace_meta(t, "piece_of_process", &value))
        return;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        osc_strbuf_addc(out, ' ');
        if (osc_trace_meta(t, keys[i], &value))
            osc_strbuf_addstr(out, value);
    }
}

static uint64_t hash_of(const struct osc_result *r, uint64_t i, const struct osc_piece_key *key)
{
    uint64_t hash = osc_hash_u64(osc_result_get_sid(r, i, key->of).v);

    for (uint32_t k = 0; k < key->n_columns; k++)
        hash = osc_hash_u64(hash ^ osc_result_get_sid(r, i, key->columns[k]).v);
    return hash;
}

static bool have_same_key(const struct osc_result *r, uint64_t a, uint64_t b,
                          const struct osc_piece_key *key)
{
    bool is_same = osc_result_get_sid(r, a, key->of).v == osc_result_get_sid(r, b, key->of).v;

    for (uint32_t k = 0; k < key->n_columns; k++)
        is_same &= osc_result_get_sid(r, a, key->columns[k]).v ==
                   osc_result_get_sid(r, b, key->columns[k]).v;
    return is_same;
}

osc_status osc_pieces_join(struct osc_result *r, const struct osc_piece_key *key,
                           bool (*join)(struct osc_result *r, uint64_t to, uint64_t row))
{
    struct osc_idmap firsts = {0}; /* hash of a key -> its first row + 1 */
    bool *const keep = osc_calloc(r->n_rows + 1, sizeof *keep);
    osc_status st = keep ? OSC_OK : OSC_ENOMEM;

    for (uint64_t i = 0; i < r->n_rows && st == OSC_OK; i++) {
        keep[i] = true;
        if (!osc_result_has(r, i, key->of))
            continue;
        uint32_t *const first = osc_idmap_put(&firsts, hash_of(r, i, key));
        if (!first)
            st = OSC_ENOMEM;
        else if (*first == 0)
            *first = (uint32_t)i + 1;
        else if (have_same_key(r, *first - 1, i, key))
            keep[i] = !join(r, *first - 1, i);
    }
    if (st == OSC_OK)
        osc_result_keep(r, keep);
    osc_idmap_fini(&firsts);
    osc_free(keep);
    return st == OSC_OK ? r->status : st;
}

void osc_pieces_fill(struct osc_result *r, uint64_t to, uint64_t row, uint32_t column)
{
    if (!osc_result_has(r, to, column) && osc_result_has(r, row, column))
        osc_result_set_str(r, to, column, osc_result_get_str(r, row, column));
}

void osc_pieces_add(struct osc_result *r, uint64_t to, uint64_t row, uint32_t column)
{
    if (osc_result_has(r, row, column))
        osc_result_set_int(r, to, column,
                           osc_result_get_int(r, to, column) +
                               osc_result_get_int(r, row, column));
}
