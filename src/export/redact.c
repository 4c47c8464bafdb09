/* SPDX-License-Identifier: Apache-2.0 */
#include "export/redact.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "codec/json.h"

/* Members of an event that are kept: they connect events. */
static const char *const ties[] = {
    "id", "id2", "bp", "s", "scope", "bind_id", "flow_in", "flow_out",
};

/* Members of the file that are kept if they are numbers, true or false; a version may be
 * text. */
static const char *const switches[] = {
    "schemaVersion", "baseTimeNanoseconds", "record_shapes",        "profile_memory",
    "with_stack",    "with_modules",        "with_flops",           "cuda_driver_version",
    "torch_version", "pytorch_version",     "cuda_runtime_version",
};

/* Properties of each device that are kept if they are numbers, or its name. */
static const char *const properties[] = {
    "name",
    "id",
    "totalGlobalMem",
    "computeMajor",
    "computeMinor",
    "maxThreadsPerBlock",
    "maxThreadsPerMultiprocessor",
    "regsPerBlock",
    "regsPerMultiprocessor",
    "warpSize",
    "sharedMemPerBlock",
    "sharedMemPerMultiprocessor",
    "sharedMemPerBlockOptin",
    "maxSharedMemoryPerMultiProcessor",
    "numSms",
};

#define N_OF(array) (sizeof(array) / sizeof *(array))

static bool is_one_of(struct osc_str key, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (osc_str_eq(key, osc_str_c(words[i])))
            return true;
    }
    return false;
}

static bool is_number(const struct osc_slot *slot)
{
    return slot->type != OSC_ARG_STRING && slot->type != OSC_ARG_TEXT;
}

static bool stays(const struct osc_trace *t, const struct osc_form *f, uint32_t i)
{
    const struct osc_slot *const slot = &f->slots[i];

    if (slot->is_member)
        return is_one_of(osc_trace_str(t, slot->key), ties, N_OF(ties));
    /* Metadata gives names to processes and threads; the arguments of a counter are its
     * values. */
    if (f->shape == OSC_SHAPE_ABOUT || (f->shape == OSC_SHAPE_COUNTER && is_number(slot)))
        return true;
    /* Values that analyses need: numbers, names of collectives, launch shapes, sorts of tasks.
     */
    if (slot->type == OSC_ARG_STRING)
        return f->known[OSC_ARG_KEY_COLLECTIVE_NAME] == (int16_t)i ||
               f->known[OSC_ARG_KEY_TASK_TYPE] == (int16_t)i ||
               f->known[OSC_ARG_KEY_DESC] == (int16_t)i;
    if (slot->type == OSC_ARG_TEXT)
        return f->known[OSC_ARG_KEY_GRID] == (int16_t)i ||
               f->known[OSC_ARG_KEY_BLOCK] == (int16_t)i;
    for (int k = 0; k < OSC_ARG_KEY_COUNT; k++) {
        if (f->known[k] == (int16_t)i)
            return true;
    }
    return false;
}

/* Remove arguments; their words stay unused. */
static void redact_form(const struct osc_trace *t, struct osc_form *f)
{
    int16_t known[OSC_ARG_KEY_COUNT];
    uint16_t n = 0;

    for (int k = 0; k < OSC_ARG_KEY_COUNT; k++)
        known[k] = -1;
    for (uint32_t i = 0; i < f->n_slots; i++) {
        if (!stays(t, f, i))
            continue;
        for (int k = 0; k < OSC_ARG_KEY_COUNT; k++) {
            if (f->known[k] == (int16_t)i)
                known[k] = (int16_t)n;
        }
        f->slots[n++] = f->slots[i];
    }
    osc_form_cut_slots(f, n);
    memcpy(f->known, known, sizeof known);
}

struct renaming {
    struct osc_trace *t;
    struct osc_intern numbers; /* for the removed texts of all traces */
    uint32_t *to;              /* owned; by osc_sid of T: the new id + 1; 0: not renamed yet */
};

/* Set *ID to the id of the content of TEXT, which is freed. */
static osc_status intern(struct osc_trace *t, struct osc_strbuf *text, osc_sid *id)
{
    const struct osc_str s = {text->s ? text->s : "", (uint32_t)text->len};
    osc_status st = text->status;

    if (st == OSC_OK)
        st = osc_strings_add(&t->strings, s, id, NULL);
    osc_strbuf_fini(text);
    return st;
}

/* Append the replacement of TEXT to OUT. */
static osc_status rename_text(struct renaming *r, struct osc_str text, struct osc_strbuf *out)
{
    struct osc_redact_part secret = {osc_redact_keeps(text), text.len};
    osc_sid number;
    osc_status st = OSC_OK;

    if (secret.from == 0)
        (void)osc_redact_host(text, &secret);
    osc_strbuf_add(out, text.s, secret.from);
    if (secret.from < secret.to) {
        /* A host is one and the same wherever its name stands. */
        const struct osc_str part = {text.s + secret.from, secret.to - secret.from};

        st = osc_intern_add(&r->numbers, secret.to < text.len ? part : text, &number);
        osc_strbuf_addf(out, "name %u", number.v);
    }
    osc_strbuf_add(out, text.s + secret.to, text.len - secret.to);
    return st != OSC_OK ? st : out->status;
}

/* Replace *ID by the id of the replacement text. Each reference is renamed once. */
static osc_status rename_sid(struct renaming *r, uint32_t *id)
{
    if (*id != 0 && r->to[*id] == 0) {
        struct osc_strbuf out = {0};
        osc_sid fresh;
        osc_status st = rename_text(r, osc_trace_str(r->t, (osc_sid){*id}), &out);

        if (st == OSC_OK)
            st = intern(r->t, &out, &fresh);
        if (st != OSC_OK) {
            osc_strbuf_fini(&out);
            return st;
        }
        r->to[*id] = fresh.v + 1;
    }
    *id = *id == 0 ? 0 : r->to[*id] - 1;
    return OSC_OK;
}

/* Whether the JSON in TEXT contains only numbers. */
static bool is_of_numbers(struct osc_str text)
{
    for (uint32_t i = 0; i < text.len; i++) {
        if (text.s[i] == '\0' || !strchr("0123456789+-.eE,[] \t\r\n", text.s[i]))
            return false;
    }
    return true;
}

/* Rename the value *ID of SLOT; JSON is replaced by a list with one name. */
static osc_status rename_value(struct renaming *r, const struct osc_slot *slot, uint32_t *id)
{
    struct osc_strbuf out = {0};
    osc_sid fresh;

    if (slot->type != OSC_ARG_TEXT)
        return rename_sid(r, id);
    if (is_of_numbers(osc_trace_str(r->t, (osc_sid){*id})))
        return OSC_OK;
    osc_status st = rename_sid(r, id);
    osc_strbuf_addc(&out, '[');
    osc_json_quote(&out, osc_trace_str(r->t, (osc_sid){*id}));
    osc_strbuf_addc(&out, ']');
    if (st == OSC_OK)
        st = intern(r->t, &out, &fresh);
    if (st == OSC_OK)
        *id = fresh.v;
    return st;
}

/* Rename the texts among the arguments of row I of C. */
static osc_status rename_args(struct renaming *r, struct osc_chunk *c, uint32_t i)
{
    const struct osc_form *const f = &r->t->forms[c->form[i]];
    uint32_t *words = NULL;
    osc_status st = OSC_OK;

    for (uint32_t k = 0; k < f->n_slots && st == OSC_OK; k++) {
        if (is_number(&f->slots[k]))
            continue;
        if (!words) {
            words = osc_malloc(f->n_words * sizeof *words);
            if (!words)
                return OSC_ENOMEM;
            memcpy(words, osc_row_words(c, i), f->n_words * sizeof *words);
        }
        st = rename_value(r, &f->slots[k], &words[f->slots[k].word]);
    }
    if (st == OSC_OK && words)
        st = osc_chunk_replace_words(c, i, words, f->n_words);
    osc_free(words);
    return st;
}

/* In the order of records, so that redacting a trace twice changes nothing. */
static osc_status rename_rows(struct renaming *r, const struct osc_store *s)
{
    osc_status st = OSC_OK;

    for (uint32_t k = 1; k < s->n_chunks; k++) {
        struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows && st == OSC_OK; i++) {
            st = rename_sid(r, &c->name[i]);
            if (st == OSC_OK)
                st = rename_args(r, c, i);
        }
    }
    return st;
}

/* Rename categories, and names of arguments: those of a counter come from the program. */
static osc_status rename_forms(struct renaming *r)
{
    osc_status st = OSC_OK;

    for (uint32_t i = 1; i < r->t->n_forms && st == OSC_OK; i++) {
        struct osc_form *const f = &r->t->forms[i];

        st = rename_sid(r, &f->category.v);
        for (uint32_t k = 0; k < f->n_slots && st == OSC_OK; k++) {
            if (f->shape == OSC_SHAPE_COUNTER || f->shape == OSC_SHAPE_ABOUT)
                st = rename_sid(r, &f->slots[k].key.v);
        }
    }
    return st;
}

static osc_status rename_owners(struct renaming *r)
{
    struct osc_trace *const t = r->t;
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < t->n_tracks && st == OSC_OK; i++) {
        osc_sid *const ids[] = {&t->tracks[i].name, &t->tracks[i].pid, &t->tracks[i].tid};

        for (int k = 0; k < 3 && st == OSC_OK; k++)
            st = rename_sid(r, &ids[k]->v);
    }
    for (uint32_t i = 0; i < t->n_processes && st == OSC_OK; i++) {
        osc_sid *const ids[] = {&t->processes[i].name, &t->processes[i].pid,
                                &t->processes[i].labels};

        for (int k = 0; k < 3 && st == OSC_OK; k++)
            st = rename_sid(r, &ids[k]->v);
    }
    for (uint32_t i = 0; i < t->n_devices && st == OSC_OK; i++)
        st = rename_sid(r, &t->devices[i].model.v);
    t->worker.v = 0;
    return st != OSC_OK ? st : osc_strings_add(&t->strings, OSC_STR("trace"), &t->source, NULL);
}

/* Append those members KEYS of OBJECT, raw JSON, that are numbers, and its name. */
static osc_status add_members(struct renaming *r, struct osc_strbuf *out, struct osc_str object,
                              const char *const *keys, size_t n)
{
    const size_t start = out->len;
    osc_status st = OSC_OK;

    for (size_t i = 0; i < n && st == OSC_OK; i++) {
        const char *const separator = out->len > start ? ", " : "{";
        struct osc_strbuf name = {0}, clean = {0};
        struct osc_str value;
        int64_t v;

        if (!osc_json_member(object, keys[i], &value))
            continue;
        const bool is_text = value.len > 2 && *value.s == '"';
        if (is_text)
            value = (struct osc_str){value.s + 1, value.len - 2};
        if (osc_json_int(value, &v)) {
            osc_strbuf_addf(out, "%s\"%s\": %lld", separator, keys[i], (long long)v);
        } else if (strcmp(keys[i], "name") == 0 && is_text) {
            (void)osc_json_unescape(value.s, value.s + value.len, &name);
            st = name.status;
            if (st == OSC_OK)
                st = rename_text(r, (struct osc_str){name.s, (uint32_t)name.len}, &clean);
            osc_strbuf_addf(out, "%s\"name\": ", separator);
            osc_json_quote(out, (struct osc_str){clean.s, (uint32_t)clean.len});
            osc_strbuf_fini(&name);
            osc_strbuf_fini(&clean);
        }
    }
    osc_strbuf_adds(out, out->len > start ? "}" : "{}");
    return st;
}

/* Reduce distributedInfo, and each entry of deviceProperties, to known members. */
static osc_status redact_objects(struct renaming *r, struct osc_meta *meta, bool is_list)
{
    static const char *const ranks[] = {"rank", "world_size"};
    struct osc_str rest = osc_trace_str(r->t, meta->value), device;
    struct osc_strbuf out = {0};
    osc_status st = OSC_OK;

    if (!is_list)
        st = add_members(r, &out, rest, ranks, N_OF(ranks));
    else
        osc_strbuf_addc(&out, '[');
    while (is_list && !meta->is_string && st == OSC_OK && osc_json_next(&rest, &device)) {
        osc_strbuf_adds(&out, out.len > 1 ? ", " : "");
        st = add_members(r, &out, device, properties, N_OF(properties));
    }
    if (is_list)
        osc_strbuf_addc(&out, ']');
    meta->is_string = false;
    if (st == OSC_OK)
        return intern(r->t, &out, &meta->value);
    osc_strbuf_fini(&out);
    return st;
}

/* Redact META; *IS_KEPT tells whether it stays. */
static osc_status redact_member(struct renaming *r, struct osc_meta *meta, bool *is_kept)
{
    const struct osc_str key = osc_trace_str(r->t, meta->key);
    const struct osc_str value = osc_trace_str(r->t, meta->value);
    const bool is_list = osc_str_eq(key, OSC_STR("deviceProperties"));
    struct osc_strbuf out = {0};
    uint32_t n = 0;

    *is_kept = true;
    if (is_list || osc_str_eq(key, OSC_STR("distributedInfo")))
        return redact_objects(r, meta, is_list);
    while (n < value.len && is_of_numbers((struct osc_str){value.s, n + 1}))
        n++;
    *is_kept = osc_str_eq(key, OSC_STR("displayTimeUnit")) &&
               (osc_str_eq(value, OSC_STR("ms")) || osc_str_eq(value, OSC_STR("ns")));
    if (*is_kept)
        return OSC_OK;
    *is_kept = is_one_of(key, switches, N_OF(switches)) &&
               (n > 0 || (!meta->is_string && (osc_str_eq(value, OSC_STR("true")) ||
                                               osc_str_eq(value, OSC_STR("false")))));
    if (!*is_kept || n == 0)
        return OSC_OK;
    osc_strbuf_add(&out, value.s, n); /* "2.13.0" from "2.13.0+cu130" */
    return intern(r->t, &out, &meta->value);
}

static osc_status redact_members(struct renaming *r)
{
    struct osc_trace *const t = r->t;
    uint32_t n = 0;
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < t->n_metas && st == OSC_OK; i++) {
        bool is_kept;

        st = redact_member(r, &t->metas[i], &is_kept);
        if (is_kept)
            t->metas[n++] = t->metas[i];
    }
    t->n_metas = n;
    return st;
}

static osc_status redact_trace(struct renaming *r)
{
    struct osc_trace *const t = r->t;

    r->to = osc_calloc((size_t)osc_strings_bound(&t->strings) + 1, sizeof *r->to);
    if (!r->to)
        return OSC_ENOMEM;
    for (uint32_t i = 1; i < t->n_forms; i++)
        redact_form(t, &t->forms[i]);
    osc_status st = rename_rows(r, &t->others);
    if (st == OSC_OK)
        st = rename_rows(r, &t->events);
    if (st == OSC_OK)
        st = rename_forms(r);
    if (st == OSC_OK)
        st = rename_owners(r);
    if (st == OSC_OK)
        st = redact_members(r);
    osc_free(r->to);
    return st;
}

osc_status osc_redact(struct osc_trace *const *traces, uint32_t n)
{
    struct osc_arena arena = {0};
    struct renaming r = {.numbers = {.arena = &arena, .seed = osc_hash_seed()}};
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        r.t = traces[i];
        st = redact_trace(&r);
    }
    osc_intern_fini(&r.numbers);
    osc_arena_fini(&arena);
    return st;
}
