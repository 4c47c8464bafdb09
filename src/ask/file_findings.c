/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/file_findings.h"

#include <stdlib.h>

#include "analysis/quality/quality_rows.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "import/build/filename.h"
#include "import/run.h"

#define NAMED 3u /* files in the sentence */

/* The process of a file: the id in its metadata, or else at the end of the name of its worker,
 * as torch names them: HOST_PID. 0: not known. */
static int64_t process_of(const struct osc_identity *id)
{
    const struct osc_filename f = osc_filename_parse(id->source.s);
    uint32_t at = f.worker.len;
    int64_t pid = 0;

    if (id->pid > 0 || !f.is_logdir)
        return id->pid;
    while (at > 0 && f.worker.s[at - 1] >= '0' && f.worker.s[at - 1] <= '9')
        at--;
    if (at == 0 || f.worker.s[at - 1] != '_' || f.worker.len - at > 18)
        return 0;
    for (; at < f.worker.len; at++)
        pid = pid * 10 + (f.worker.s[at] - '0');
    return pid + 1; /* workers are numbered from 0, too */
}

/* The identity of part I. That of an open trace is made anew: its texts may have been redacted.
 */
static struct osc_identity identity_of(const struct osc_query *q, uint32_t i)
{
    const struct osc_partial *const p = q->parts[i];
    struct osc_identity id = p->identity;

    if (p->trace)
        osc_run_identity(&id, p->trace, "");
    id.among = p->identity.among;
    return id;
}

/* A search for files of one rank and span. */
struct search {
    struct osc_idmap seen; /* rank, span, host and process of a file -> 1 */
    uint64_t seed;
    int32_t rank, span; /* of the file before */
    uint64_t n;
    struct osc_strbuf names;
};

/* Look at file I. */
static osc_status look_at(struct search *s, const struct osc_query *q, uint32_t i)
{
    const struct osc_identity id = identity_of(q, i);
    const int64_t pid = process_of(&id);
    const struct osc_str host = id.host.s ? id.host : OSC_STR("");
    const uint64_t place = (uint64_t)(uint32_t)id.among.rank << 32 | (uint32_t)id.among.span;
    const uint64_t key = osc_hash(host.s, host.len, s->seed) ^ osc_hash_u64(place) ^
                         osc_hash_u64((uint64_t)pid * 2 + 1);
    uint32_t *const is_known = osc_idmap_put(&s->seen, key);
    const bool is_first = i == 0 || s->rank != id.among.rank || s->span != id.among.span;

    if (!is_known)
        return OSC_ENOMEM;
    if (!is_first && (pid == 0 || *is_known) && id.among.piece == 0) {
        if (s->n++ < NAMED)
            osc_strbuf_addf(&s->names, "%srank %d, span %d: %.*s", s->n == 1 ? ": " : "; ",
                            id.among.rank, id.among.span, (int)id.source.len, id.source.s);
    }
    *is_known = 1;
    s->rank = id.among.rank;
    s->span = id.among.span;
    return s->names.status;
}

static osc_status add_same_rank(const struct osc_query *q, struct osc_result *r)
{
    struct search s = {.seed = osc_hash_seed()};
    struct osc_strbuf text = {0};
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < q->n_parts && q->n_parts > 1 && st == OSC_OK; i++)
        st = look_at(&s, q, i);
    if (st == OSC_OK && s.n > 0) {
        osc_strbuf_adds(&text, osc_finding_message(OSC_FINDING_same_rank));
        osc_strbuf_adds(&text, s.names.s);
        if (s.n > NAMED)
            osc_strbuf_addf(&text, "; and %llu more", (unsigned long long)(s.n - NAMED));
        st = text.status;
        if (st == OSC_OK)
            osc_quality_add(r, OSC_FINDING_same_rank, s.n, osc_str_c(text.s));
    }
    osc_strbuf_fini(&s.names);
    osc_strbuf_fini(&text);
    osc_idmap_fini(&s.seen);
    return st;
}

osc_status osc_file_findings_add(void *ctx, struct osc_result *r)
{
    static const enum osc_finding_code codes[] = {
        OSC_FINDING_file_failed, OSC_FINDING_file_empty,   OSC_FINDING_file_copy,
        OSC_FINDING_file_other,  OSC_FINDING_folder_again, OSC_FINDING_folder_limit};
    const struct osc_file_findings *const f = ctx;
    struct osc_strbuf text = {0};
    osc_status st = add_same_rank(f->query, r);

    for (size_t i = 0; i < sizeof codes / sizeof *codes && st == OSC_OK; i++) {
        osc_strbuf_clear(&text);
        const uint64_t n = osc_left_out_describe(f->left, codes[i], &text);

        st = text.status;
        if (st == OSC_OK && n > 0)
            osc_quality_add(r, codes[i], n, osc_str_c(text.s));
    }
    osc_strbuf_fini(&text);
    return st == OSC_OK ? r->status : st;
}
