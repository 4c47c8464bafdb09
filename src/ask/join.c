/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/join.h"

#include <stdio.h>
#include <string.h>

#include "base/fields.h"
#include "base/mem.h"
#include "base/note.h"
#include "base/sort.h"

#define MAGIC_BYTES 8u

#define HEAD_BYTES 32u

static const char magic[MAGIC_BYTES] = {'o', 's', 'c', 'p', 'a', 'r', 't', 's'};

static struct osc_str text_of(const struct osc_strbuf *b)
{
    return (struct osc_str){b->s ? b->s : "", (uint32_t)b->len};
}

/* --- writing ---------------------------------------------------------------------- */

static void put_end(struct osc_strbuf *out, const struct osc_trace_end *end)
{
    osc_put_u32(out, end->file);
    osc_put_u32(out, end->part);
    osc_put_u32(out, (uint32_t)end->status);
    osc_put_u32(out, end->is_without);
    osc_put_c_text(out, end->message);
    osc_strbuf_add(out, (const char *)&end->rest.files, sizeof end->rest.files);
    osc_put_u32(out, end->rest.part);
    osc_put_u32(out, end->rest.n_events);
    osc_put_u32(out, end->rest.n_others);
    osc_put_u32(out, end->rest.is_torn);
    osc_put_u32(out, end->rest.is_partial);
}

/* Append what B has of its traces: their ends, and their parts of all answers. */
static void put_parts(const struct osc_trace_parts *b, struct osc_strbuf *out)
{
    osc_put_u32(out, b->n_ends);
    for (uint32_t i = 0; i < b->n_ends; i++)
        put_end(out, &b->ends[i]);
    for (size_t a = 0; a < b->n_answers; a++) {
        const struct osc_gathering *const g = &b->answers[a].parts;
        uint64_t n_bytes = 0;

        for (uint32_t i = 0; i < g->n_parts; i++)
            n_bytes += g->parts[i].bytes.len;
        osc_put_u64(out, n_bytes);
        for (uint32_t i = 0; i < g->n_parts; i++)
            osc_strbuf_addstr(out, g->parts[i].bytes);
    }
}

static osc_status put_body(struct osc_strbuf *out, const struct osc_request *r,
                           const struct osc_load *o, const struct osc_loaded *l,
                           const struct osc_trace_parts *b)
{
    struct osc_strbuf words = {0};

    osc_request_add_words(&words, r);
    osc_put_c_text(out, r->question.table ? r->question.table : "averages");
    osc_put_text(out, text_of(&words));
    osc_put_u32(out, o->share.number);
    osc_put_u32(out, o->share.n > 0 ? o->share.n : 1);
    osc_put_u64(out, l->listed);
    osc_put_u32(out, (uint32_t)o->n_paths);
    for (size_t i = 0; i < o->n_paths; i++)
        osc_put_c_text(out, o->paths[i]);
    osc_put_u32(out, l->has_failed);
    osc_put_text(out, text_of(&l->notes));
    osc_left_out_put(&l->files.left, out);
    osc_put_u32(out, (uint32_t)b->n_answers);
    put_parts(b, out);
    const osc_status st = words.status != OSC_OK ? words.status : out->status;
    osc_strbuf_fini(&words);
    return st;
}

osc_status osc_join_put(struct osc_strbuf *out, const struct osc_request *r,
                        const struct osc_load *o, const struct osc_loaded *l,
                        const struct osc_trace_parts *b)
{
    const size_t head_at = out->len, body_at = head_at + HEAD_BYTES;

    osc_strbuf_pad(out, '\0', HEAD_BYTES);
    const osc_status st = put_body(out, r, o, l, b);
    if (st != OSC_OK)
        return st;

    char *const head = out->s + head_at;
    const size_t len = out->len - body_at;
    memcpy(head, magic, MAGIC_BYTES);
    osc_fields_store(head + MAGIC_BYTES, OSC_JOIN_VERSION, 8); /* and four zeroes */
    osc_fields_store(head + MAGIC_BYTES + 8, len, 8);
    osc_fields_store(head + MAGIC_BYTES + 16, osc_hash(out->s + body_at, len, OSC_PARTIAL_SEED),
                     8);
    return OSC_OK;
}

/* --- reading ---------------------------------------------------------------------- */

/* Move the body of the first file of REST to BODY, if it is intact. */
static osc_status open_body(struct osc_fields *rest, struct osc_fields *body, const char *name,
                            struct osc_err *err)
{
    const char *const head = osc_get_bytes(rest, MAGIC_BYTES);

    if (!head || memcmp(head, magic, MAGIC_BYTES) != 0)
        return osc_fail(err, OSC_EFORMAT,
                        "%s: this is no file of parts; 'opscope table --partial -o X.part' "
                        "makes one",
                        name);
    const uint32_t version = osc_get_u32(rest);
    const uint32_t zeroes = osc_get_u32(rest);
    const uint64_t len = osc_get_u64(rest), hash = osc_get_u64(rest);
    if (!rest->is_bad && version != OSC_JOIN_VERSION)
        return osc_fail(
            err, OSC_EFORMAT,
            "%s: parts in version %u; this opscope reads version %u: make all parts "
            "with the same opscope",
            name, version, OSC_JOIN_VERSION);
    const char *const at = len <= SIZE_MAX ? osc_get_bytes(rest, (size_t)len) : NULL;
    if (!at)
        return osc_fail(err, OSC_EFORMAT, "%s: the file is cut: it ends before its last part",
                        name);
    if (zeroes != 0 || osc_hash(at, (size_t)len, OSC_PARTIAL_SEED) != hash)
        return osc_fail(err, OSC_EFORMAT, "%s: the file is damaged", name);
    *body = (struct osc_fields){at, at + len, false};
    return OSC_OK;
}

static osc_status get_operands(struct osc_joined *j, struct osc_join_file *f,
                               struct osc_fields *from)
{
    const uint32_t n = osc_get_u32(from);
    osc_status st = OSC_OK;

    f->first_operand = j->n_operands;
    for (uint32_t i = 0; i < n && st == OSC_OK && !from->is_bad; i++) {
        const struct osc_str operand = osc_get_text(from);

        from->is_bad = from->is_bad || !operand.s;
        st = osc_grow(&j->operands, &j->cap_operands, (size_t)j->n_operands + 1,
                      sizeof *j->operands);
        if (st == OSC_OK)
            j->operands[j->n_operands++] = operand.s;
    }
    f->n_operands = n;
    return st;
}

static bool is_same(struct osc_str a, struct osc_str b)
{
    return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
}

static osc_status add_file(struct osc_joined *j, struct osc_fields *body, const char *name,
                           struct osc_err *err)
{
    osc_status st =
        osc_grow(&j->files, &j->cap_files, (size_t)j->n_files + 1, sizeof *j->files);

    if (st != OSC_OK)
        return osc_fail(err, st, "out of memory");
    struct osc_join_file *const f = &j->files[j->n_files];
    *f = (struct osc_join_file){.name = name, .table = osc_get_text(body)};
    f->words = osc_get_text(body);
    f->share.number = osc_get_u32(body);
    f->share.n = osc_get_u32(body);
    f->listed = osc_get_u64(body);
    st = get_operands(j, f, body);
    if (st != OSC_OK)
        return osc_fail(err, st, "out of memory");
    f->has_failed = osc_get_u32(body) != 0;
    f->notes = osc_get_text(body);
    f->left = *body;
    struct osc_left_out left = {0}; /* its place is known once it is read */
    osc_left_out_get(&left, body);
    osc_left_out_fini(&left);
    f->n_answers = osc_get_u32(body);
    f->parts = *body;
    if (body->is_bad || !f->table.s || !f->words.s || !f->notes.s ||
        f->share.number >= f->share.n)
        return osc_fail(err, OSC_EFORMAT, "%s: the file is damaged", name);
    const struct osc_join_file *const first = &j->files[0];
    if (!is_same(f->table, first->table))
        return osc_fail(err, OSC_EINVAL, "%s: it has parts of table %s, but %s has parts of %s",
                        name, f->table.s, first->name, first->table.s);
    if (!is_same(f->words, first->words) || f->n_answers != first->n_answers)
        return osc_fail(err, OSC_EINVAL,
                        "%s: its parts were asked for with other options than those of %s",
                        name, first->name);
    j->n_files++;
    return OSC_OK;
}

osc_status osc_joined_add(struct osc_joined *j, const char *name, const char *bytes,
                          size_t n_bytes, struct osc_err *err)
{
    struct osc_fields rest = {bytes, bytes + n_bytes, false}, body = {NULL, NULL, false};
    osc_status st = OSC_OK;

    do {
        st = open_body(&rest, &body, name, err);
        if (st == OSC_OK)
            st = add_file(j, &body, name, err);
    } while (st == OSC_OK && rest.at < rest.end);
    return st;
}

osc_status osc_joined_request(const struct osc_joined *j, struct osc_request *r,
                              struct osc_err *err)
{
    const struct osc_join_file *const f = &j->files[0];
    const osc_status st = osc_request_set_words(r, f->words, err);

    r->question.table = f->table.s;
    return st;
}

/* --- groups ----------------------------------------------------------------------- */

/* Compare the operands of X and Y, then their numbers of shares. */
static int by_operands(const struct osc_joined *j, const struct osc_join_file *x,
                       const struct osc_join_file *y)
{
    const char *const *const a = j->operands + x->first_operand;
    const char *const *const b = j->operands + y->first_operand;

    if (x->n_operands != y->n_operands)
        return x->n_operands < y->n_operands ? -1 : 1;
    for (uint32_t i = 0; i < x->n_operands; i++) {
        const int order = strcmp(a[i], b[i]);

        if (order != 0)
            return order;
    }
    return (x->share.n > y->share.n) - (x->share.n < y->share.n);
}

/* A file in the order of its operands, its share and its arrival. */
struct sorted {
    const struct osc_joined *j;
    struct osc_join_file *file;
};

static int by_share(const void *a, const void *b)
{
    const struct sorted *const x = a, *const y = b;
    const int order = by_operands(x->j, x->file, y->file);

    if (order != 0)
        return order;
    if (x->file->share.number != y->file->share.number)
        return x->file->share.number < y->file->share.number ? -1 : 1;
    return x->file < y->file ? -1 : 1;
}

/* Note that shares from FIRST on, before LAST, of F's group are missing. */
static void note_missing(struct osc_joined *j, const struct osc_join_file *f, uint32_t first,
                         uint32_t last)
{
    const char *const operand =
        f->n_operands > 0 ? j->operands[f->first_operand] : "the traces";
    const char *const more = f->n_operands > 1 ? " and others" : "";

    if (first == last)
        return;
    j->has_failed = true;
    if (last - first == 1)
        osc_note(&j->notes, "%s%s: share %u of %u is missing, so its files are left out",
                 operand, more, first + 1, f->share.n);
    else
        osc_note(&j->notes,
                 "%s%s: shares %u to %u of %u are missing, so their files are left out",
                 operand, more, first + 1, last, f->share.n);
}

/* Check the N files of one group at S, and note missing shares. */
static osc_status check_group(struct osc_joined *j, const struct sorted *s, uint32_t n,
                              struct osc_err *err)
{
    const struct osc_join_file *const first = s[0].file;
    uint32_t next = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct osc_join_file *const f = s[i].file;

        if (i > 0 && f->share.number == s[i - 1].file->share.number)
            return osc_fail(err, OSC_EINVAL, "%s and %s have parts of the same traces",
                            s[i - 1].file->name, f->name);
        if (f->listed != first->listed)
            return osc_fail(err, OSC_EINVAL,
                            "%s and %s: the files of %s changed between them, so some traces "
                            "may be missing or there twice: make all parts again",
                            first->name, f->name, j->operands[f->first_operand]);
        note_missing(j, first, next, f->share.number);
        next = f->share.number + 1;
    }
    note_missing(j, first, next, first->share.n);
    return OSC_OK;
}

/* Check the groups among the files at S, which are sorted, and give each file the first file of
 * its group as group. */
static osc_status check_groups(struct osc_joined *j, const struct sorted *s,
                               struct osc_err *err)
{
    osc_status st = OSC_OK;

    for (uint32_t i = 0, n; i < j->n_files && st == OSC_OK; i += n) {
        uint32_t least = UINT32_MAX;

        for (n = 0; i + n < j->n_files && by_operands(j, s[i].file, s[i + n].file) == 0; n++) {
            const uint32_t at = (uint32_t)(s[i + n].file - j->files);

            least = at < least ? at : least;
        }
        for (uint32_t k = i; k < i + n; k++)
            s[k].file->group = least;
        st = check_group(j, s + i, n, err);
    }
    return st;
}

/* Add the lines of NOTES, which a file says, to those of J. */
static void add_notes(struct osc_joined *j, struct osc_str notes)
{
    const char *const end = notes.s + notes.len;

    for (const char *at = notes.s; at < end;) {
        const char *const line_end = memchr(at, '\n', (size_t)(end - at));
        const char *const stop = line_end ? line_end : end;

        osc_note(&j->notes, "%.*s", (int)(stop - at), at);
        at = stop + 1;
    }
}

/* Add what F left out to J. All shares have listed the same directories; if F is not the first,
 * only what failed when it was read is new. */
static void add_left(struct osc_joined *j, const struct osc_join_file *f, bool is_first)
{
    struct osc_fields from = f->left;
    struct osc_left_out left = {0};

    osc_left_out_get(&left, &from);
    osc_left_out_add_all(&j->left, &left, !is_first);
    osc_left_out_fini(&left);
}

/* List the operands of all groups, in the order of their first files, and the notes. */
static osc_status list_paths(struct osc_joined *j)
{
    j->paths = osc_calloc((size_t)j->n_operands + 1, sizeof *j->paths);
    if (!j->paths)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < j->n_files; i++) {
        const struct osc_join_file *const f = &j->files[i];

        add_notes(j, f->notes);
        add_left(j, f, f->group == i);
        j->has_failed |= f->has_failed;
        for (uint32_t k = 0; f->group == i && k < f->n_operands; k++)
            j->paths[j->n_paths++] = j->operands[f->first_operand + k];
    }
    return j->notes.status == OSC_OK ? j->left.status : j->notes.status;
}

osc_status osc_joined_end(struct osc_joined *j, struct osc_err *err)
{
    struct sorted *const s = osc_calloc((size_t)j->n_files + 1, sizeof *s);

    if (!s)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < j->n_files; i++)
        s[i] = (struct sorted){j, &j->files[i]};
    osc_sort(s, j->n_files, sizeof *s, by_share);
    osc_status st = check_groups(j, s, err);
    osc_free(s);
    if (st == OSC_OK && list_paths(j) != OSC_OK)
        st = osc_fail(err, OSC_ENOMEM, "out of memory");
    return st;
}

/* --- loading ---------------------------------------------------------------------- */

/* Read *END, whose message is copied. */
static osc_status get_end(struct osc_fields *from, struct osc_trace_end *end)
{
    *end = (struct osc_trace_end){.file = osc_get_u32(from)};
    end->part = osc_get_u32(from);
    end->status = (osc_status)osc_get_u32(from);
    end->is_without = osc_get_u32(from) != 0;
    const struct osc_str message = osc_get_text(from);
    const char *const files = osc_get_bytes(from, sizeof end->rest.files);
    if (files)
        memcpy(&end->rest.files, files, sizeof end->rest.files);
    end->rest.part = osc_get_u32(from);
    end->rest.n_events = osc_get_u32(from);
    end->rest.n_others = osc_get_u32(from);
    end->rest.is_torn = osc_get_u32(from) != 0;
    end->rest.is_partial = osc_get_u32(from) != 0;
    if ((end->status != OSC_OK) != (message.s != NULL))
        from->is_bad = true;
    if (from->is_bad)
        return OSC_EINVAL;
    if (!message.s)
        return OSC_OK;
    end->message = osc_malloc((size_t)message.len + 1);
    if (!end->message)
        return OSC_ENOMEM;
    memcpy(end->message, message.s, (size_t)message.len + 1);
    return OSC_OK;
}

/* Add the parts of A, an answer of B, for the ends from FIRST on. */
static osc_status get_parts(struct osc_trace_parts *b, struct osc_answer_parts *a,
                            uint32_t first, struct osc_fields *from, struct osc_err *err)
{
    const uint64_t n_bytes = osc_get_u64(from);
    const char *at = n_bytes <= SIZE_MAX ? osc_get_bytes(from, (size_t)n_bytes) : NULL;
    const char *const end = at ? at + n_bytes : NULL;
    struct osc_partial_question q;
    osc_status st = osc_trace_parts_ask(&q, b, a, err);

    if (st == OSC_OK && !at)
        st = osc_fail(err, OSC_EINVAL, "a part of a table is damaged");
    while (st == OSC_OK && at < end) {
        const size_t n_left = (size_t)(end - at);
        struct osc_str rest = {at, n_left > UINT32_MAX ? UINT32_MAX : (uint32_t)n_left}, part;

        st = osc_partial_next(&rest, &part, err);
        if (st == OSC_OK)
            st = osc_gather_add(&a->parts, part, &q, err);
        if (st == OSC_OK)
            at += part.len;
    }
    if (st == OSC_OK && a->parts.n_parts != b->n_ends)
        st = osc_fail(err, OSC_EINVAL, "parts of a table are missing");
    for (uint32_t i = first; st == OSC_OK && i < a->parts.n_parts; i++)
        a->parts.parts[i].identity.number = i;
    return st;
}

/* Add to B, which has the same questions, what put_parts() wrote about traces of the operands
 * GROUP. */
static osc_status get_group(struct osc_trace_parts *b, struct osc_fields *from, uint32_t group,
                            struct osc_err *err)
{
    const uint32_t first = b->n_ends, n = osc_get_u32(from);
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < n && st == OSC_OK && !from->is_bad; i++) {
        st = osc_grow(&b->ends, &b->cap_ends, (size_t)b->n_ends + 1, sizeof *b->ends);
        if (st == OSC_OK)
            st = get_end(from, &b->ends[b->n_ends]);
        if (st == OSC_OK)
            b->ends[b->n_ends++].group = group;
    }
    if (st == OSC_ENOMEM)
        return osc_fail(err, st, "out of memory");
    if (st != OSC_OK || from->is_bad)
        return osc_fail(err, OSC_EINVAL, "a part of a table is damaged");
    for (size_t a = 0; a < b->n_answers && st == OSC_OK; a++)
        st = get_parts(b, &b->answers[a], first, from, err);
    return st;
}

/* An end, and its number before it is sorted. */
struct numbered {
    struct osc_trace_end end;
    uint32_t number;
};

static int by_file(const void *a, const void *b)
{
    const struct numbered *const x = a, *const y = b;

    if (x->end.group != y->end.group)
        return x->end.group < y->end.group ? -1 : 1;
    if (x->end.file != y->end.file)
        return x->end.file < y->end.file ? -1 : 1;
    if (x->end.part != y->end.part)
        return x->end.part < y->end.part ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* Number the traces of B in the order in which one process would read them. */
static osc_status renumber(struct osc_trace_parts *b, struct osc_err *err)
{
    struct numbered *const all = osc_calloc((size_t)b->n_ends + 1, sizeof *all);

    if (!all)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < b->n_ends; i++)
        all[i] = (struct numbered){b->ends[i], i};
    osc_sort(all, b->n_ends, sizeof *all, by_file);
    for (uint32_t i = 0; i < b->n_ends; i++) {
        b->ends[i] = all[i].end;
        for (size_t a = 0; a < b->n_answers; a++)
            b->answers[a].parts.parts[all[i].number].identity.number = i;
    }
    osc_free(all);
    return OSC_OK;
}

static osc_status get_all(const struct osc_joined *j, struct osc_trace_parts *b,
                          struct osc_err *err)
{
    for (uint32_t i = 0; i < j->n_files; i++) {
        const struct osc_join_file *const f = &j->files[i];
        struct osc_fields parts = f->parts;
        struct osc_err own = {0};
        const osc_status st = get_group(b, &parts, f->group, &own);

        if (st != OSC_OK)
            return osc_fail(err, st, "%s: %s", f->name, own.message);
    }
    return renumber(b, err);
}

/* Give L the version of torch that the first of the traces in G has. */
static osc_status find_torch_version(struct osc_loaded *l, const struct osc_gathering *g)
{
    const struct osc_identity *first = NULL;
    struct osc_strbuf copy = {0};

    for (uint32_t i = 0; i < g->n_parts; i++) {
        const struct osc_identity *const id = &g->parts[i].identity;

        if (id->torch_version.len > 0 && (!first || id->number < first->number))
            first = id;
    }
    if (!first)
        return OSC_OK;
    osc_strbuf_addstr(&copy, first->torch_version);
    l->torch_version = copy.s;
    return copy.status;
}

osc_status osc_joined_load(const struct osc_joined *j, struct osc_loaded *l,
                           struct osc_trace_parts *b, const struct osc_load *o,
                           struct osc_err *err)
{
    osc_status st = get_all(j, b, err);

    *l = (struct osc_loaded){.is_visited = true, .has_failed = j->has_failed};
    l->operand = j->n_paths == 1 ? j->paths[0] : NULL;
    l->n_read = b->n_ends;
    osc_strbuf_addstr(&l->notes, text_of(&j->notes));
    osc_left_out_add_all(&l->files.left, &j->left, false);
    if (st == OSC_OK)
        st = l->notes.status == OSC_OK ? l->files.left.status : l->notes.status;
    if (st == OSC_OK)
        st = find_torch_version(l, &b->answers[0].parts);
    if (st == OSC_OK && l->n_read == 0)
        st = osc_fail(err, OSC_ENOTFOUND, "these parts are of no trace");
    if (o->hear)
        osc_notes_each(&l->notes, o->hear, o->hear_ctx);
    return osc_loaded_fail(l, NULL, st, "joining parts", err);
}

void osc_joined_fini(struct osc_joined *j)
{
    osc_free(j->files);
    osc_free(j->operands);
    osc_free(j->paths);
    osc_strbuf_fini(&j->notes);
    osc_left_out_fini(&j->left);
    *j = (struct osc_joined){0};
}
