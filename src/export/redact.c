/* SPDX-License-Identifier: Apache-2.0 */
#include "export/redact.h"

#include <string.h>

#include "base/mem.h"
#include "codec/json.h"

/* Arguments that stay if they are numbers. */
static const enum osc_arg_key numbers[] = {
    OSC_ARG_KEY_CORRELATION,
    OSC_ARG_KEY_EXTERNAL_ID,
    OSC_ARG_KEY_EXTERNAL_ID_OLD,
    OSC_ARG_KEY_DEVICE,
    OSC_ARG_KEY_STREAM,
    OSC_ARG_KEY_REGISTERS,
    OSC_ARG_KEY_SHARED_MEMORY,
    OSC_ARG_KEY_BLOCKS_PER_SM,
    OSC_ARG_KEY_OCCUPANCY,
    OSC_ARG_KEY_BYTES_COPIED,
    OSC_ARG_KEY_SEQUENCE_NUMBER,
    OSC_ARG_KEY_FWD_THREAD,
    OSC_ARG_KEY_EV_IDX,
    OSC_ARG_KEY_RECORD_FUNCTION_ID,
    OSC_ARG_KEY_PYTHON_ID,
    OSC_ARG_KEY_PYTHON_PARENT_ID,
    OSC_ARG_KEY_PYTHON_MODULE_ID,
    OSC_ARG_KEY_DEVICE_TYPE,
    OSC_ARG_KEY_DEVICE_ID,
    OSC_ARG_KEY_ADDR,
    OSC_ARG_KEY_BYTES,
    OSC_ARG_KEY_TOTAL_ALLOCATED,
    OSC_ARG_KEY_TOTAL_RESERVED,
};

/* Those that stay as they are. */
static const enum osc_arg_key texts[] = {
    OSC_ARG_KEY_GRID,
    OSC_ARG_KEY_BLOCK,
    OSC_ARG_KEY_COLLECTIVE_NAME,
};

/* Members of the file that stay. */
static const char *const members[] = {
    "schemaVersion",        "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds",
    "record_shapes",        "profile_memory",   "with_stack",      "with_modules",
    "with_flops",           "torch_version",    "pytorch_version", "cuda_driver_version",
    "cuda_runtime_version",
};

static bool is_known(const struct osc_form *f, uint32_t slot, const enum osc_arg_key *keys,
                     size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (f->known[keys[i]] == (int16_t)slot)
            return true;
    }
    return false;
}

static bool is_number(const struct osc_slot *slot)
{
    return slot->type != OSC_ARG_STRING && slot->type != OSC_ARG_TEXT;
}

static bool stays(const struct osc_form *f, uint32_t i)
{
    const struct osc_slot *const slot = &f->slots[i];

    /* Metadata names processes and threads; a counter is its values. */
    if (slot->is_member || f->ph == 'M' || (f->ph == 'C' && is_number(slot)))
        return true;
    if (is_known(f, i, texts, sizeof texts / sizeof *texts))
        return true;
    return is_number(slot) && is_known(f, i, numbers, sizeof numbers / sizeof *numbers);
}

/* Forget arguments: their words lie idle. */
static void redact_form(struct osc_form *f)
{
    int16_t known[OSC_ARG_KEY_COUNT];
    uint16_t n = 0;

    for (int k = 0; k < OSC_ARG_KEY_COUNT; k++)
        known[k] = -1;
    for (uint32_t i = 0; i < f->n_slots; i++) {
        if (!stays(f, i))
            continue;
        for (int k = 0; k < OSC_ARG_KEY_COUNT; k++) {
            if (f->known[k] == (int16_t)i)
                known[k] = (int16_t)n;
        }
        f->slots[n++] = f->slots[i];
    }
    f->n_slots = n;
    memcpy(f->known, known, sizeof known);
}

/* What ends a path in a name. */
static bool is_path_end(char c)
{
    return (unsigned char)c <= ' ' || (c != '\0' && strchr("\"'`()<>[]{},;:=|*&", c));
}

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Where the "(12):" that ends the path of a Python frame begins; 0: NAME is none. */
static uint32_t find_line(struct osc_str name)
{
    for (uint32_t i = name.len; i > 3; i--) {
        uint32_t at = i - 2; /* of the bracket that closes, before a colon */

        if (name.s[i - 1] != ':' || name.s[at] != ')' || !is_digit(name.s[at - 1]))
            continue;
        while (at > 0 && is_digit(name.s[at - 1]))
            at--;
        if (at > 1 && name.s[at - 1] == '(' && name.s[at - 2] != ' ')
            return at - 1;
    }
    return 0;
}

/* Whether FILE, which ends a word, is one of program text or a library. */
static bool has_suffix(struct osc_str file)
{
    static const char *const suffixes[] = {".py", ".pyc", ".so", ".c",  ".cc",
                                           ".cu", ".cpp", ".h",  ".hpp"};

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (osc_str_ends(file, osc_str_c(suffixes[i])))
            return true;
    }
    return false;
}

/* Whether NAME has a line number at AT, as in x.f90:12 and x.f90(12). */
static bool is_line(struct osc_str name, uint32_t at)
{
    return at + 1 < name.len && (name.s[at] == ':' || name.s[at] == '(') &&
           is_digit(name.s[at + 1]);
}

/*
 * Whether the word of NAME from FROM to END, the last part of which begins at LAST, is
 * a path. Names of scopes and templates have separators too.
 */
static bool is_path(struct osc_str name, uint32_t from, uint32_t end, uint32_t last)
{
    const struct osc_str word = {name.s + from, end - from};
    const struct osc_str file = {name.s + last, end - last};
    uint32_t n_dots = 0, n_separators = 0;

    if (last == from)
        return false;
    while (n_separators < word.len && is_separator(word.s[n_separators]))
        n_separators++;
    if (n_separators > 0 || *word.s == '~')
        return n_separators < word.len; /* "a / b" is no path */
    while (n_dots < word.len && word.s[n_dots] == '.')
        n_dots++;
    if (n_dots > 0 && n_dots <= 2 && is_separator(word.s[n_dots]))
        return true;
    return has_suffix(file) ||
           (file.len > 0 && memchr(file.s, '.', file.len) && is_line(name, end));
}

/* Append NAME, of the paths in it their last parts alone. */
static void add_files(struct osc_strbuf *out, struct osc_str name)
{
    const uint32_t line = find_line(name);
    uint32_t i = 0;

    /* Only separators part the path of a Python frame: blanks may stand in it. */
    for (uint32_t k = 0; k < line; k++) {
        if (is_separator(name.s[k]))
            i = k + 1;
    }
    osc_strbuf_add(out, name.s + i, line > i ? line - i : 0);
    i = line;
    while (i < name.len) {
        uint32_t end = i, last = i; /* of the word; behind its last separator */

        if (is_path_end(name.s[i])) {
            osc_strbuf_addc(out, name.s[i++]);
            continue;
        }
        for (; end < name.len && !is_path_end(name.s[end]); end++) {
            if (is_separator(name.s[end]))
                last = end + 1;
        }
        if (!is_path(name, i, end, last))
            last = i;
        osc_strbuf_add(out, name.s + last, end - last);
        i = end;
    }
}

/* Append NAME with "host" for each HOST, which is not empty. */
static void add_without_host(struct osc_strbuf *out, struct osc_str name, struct osc_str host)
{
    uint32_t i = 0;

    while (i < name.len) {
        if (name.len - i >= host.len && memcmp(name.s + i, host.s, host.len) == 0) {
            osc_strbuf_adds(out, "host");
            i += host.len;
        } else {
            osc_strbuf_addc(out, name.s[i++]);
        }
    }
}

void osc_redact_name(struct osc_strbuf *out, struct osc_str name, struct osc_str host)
{
    struct osc_strbuf clean = {0};

    if (host.len > 0 && osc_str_has(name, host)) {
        add_without_host(&clean, name, host);
        name = (struct osc_str){clean.s ? clean.s : "", (uint32_t)clean.len};
    }
    if (clean.status == OSC_OK)
        add_files(out, name);
    else
        out->status = clean.status;
    osc_strbuf_fini(&clean);
}

struct renaming {
    struct osc_trace *t;
    struct osc_str host;
    uint32_t *to; /* owned; by osc_sid: the new one + 1, or 0: not looked at */
    uint32_t n_strings;
    struct osc_strbuf scratch;
};

/* The id that takes the place of *ID. */
static osc_status rename_sid(struct renaming *r, uint32_t *id)
{
    osc_sid fresh;

    if (*id == 0 || *id >= r->n_strings)
        return OSC_OK; /* what was made here is clean */
    if (r->to[*id] == 0) {
        const struct osc_str name = osc_trace_str(r->t, (osc_sid){*id});

        osc_strbuf_clear(&r->scratch);
        osc_redact_name(&r->scratch, name, r->host);
        if (r->scratch.status != OSC_OK)
            return r->scratch.status;
        const osc_status st = osc_strings_add(
            &r->t->strings,
            (struct osc_str){r->scratch.s ? r->scratch.s : "", (uint32_t)r->scratch.len},
            &fresh, NULL);
        if (st != OSC_OK)
            return st;
        r->to[*id] = fresh.v + 1;
    }
    *id = r->to[*id] - 1;
    return OSC_OK;
}

/* The texts among the arguments of row I of C, which is metadata. */
static osc_status rename_args(struct renaming *r, struct osc_chunk *c, uint32_t i)
{
    const struct osc_form *const f = &r->t->forms[c->form[i]];
    osc_status st = OSC_OK;

    if (f->ph != 'M' || f->n_words == 0)
        return OSC_OK;
    uint32_t *const words = osc_malloc(f->n_words * sizeof *words);
    if (!words)
        return OSC_ENOMEM;
    memcpy(words, osc_row_words(c, i), f->n_words * sizeof *words);
    for (uint32_t k = 0; k < f->n_slots && st == OSC_OK; k++) {
        if (f->slots[k].type == OSC_ARG_STRING || f->slots[k].type == OSC_ARG_TEXT)
            st = rename_sid(r, &words[f->slots[k].word]);
    }
    if (st == OSC_OK)
        st = osc_chunk_replace_words(c, i, words, f->n_words);
    osc_free(words);
    return st;
}

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

/* Of the path of the file, which evidence of advice names, the last part. */
static osc_status rename_source(struct renaming *r)
{
    struct osc_str path = osc_trace_str(r->t, r->t->source);
    osc_status st;

    for (uint32_t i = path.len; i > 0; i--) {
        if (path.s[i - 1] == '/') {
            path = (struct osc_str){path.s + i, path.len - i};
            break;
        }
    }
    osc_strbuf_clear(&r->scratch);
    osc_redact_name(&r->scratch, path, r->host);
    st = r->scratch.status;
    if (st == OSC_OK)
        st = osc_strings_add(
            &r->t->strings,
            (struct osc_str){r->scratch.s ? r->scratch.s : "", (uint32_t)r->scratch.len},
            &r->t->source, NULL);
    return st;
}

static osc_status rename_owners(struct renaming *r)
{
    struct osc_trace *const t = r->t;
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < t->n_tracks && st == OSC_OK; i++)
        st = rename_sid(r, &t->tracks[i].name.v);
    for (uint32_t i = 0; i < t->n_processes && st == OSC_OK; i++) {
        st = rename_sid(r, &t->processes[i].name.v);
        if (st == OSC_OK)
            st = rename_sid(r, &t->processes[i].labels.v);
    }
    t->worker.v = 0;
    return st;
}

/* Of distributedInfo its numbers alone. */
static osc_status redact_distribution(struct osc_trace *t, struct osc_meta *meta)
{
    static const char *const keys[] = {"rank", "world_size"};
    struct osc_strbuf out = {0};
    struct osc_str value;
    int64_t v;
    osc_status st = OSC_OK;

    osc_strbuf_addc(&out, '{');
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (osc_json_member(osc_trace_str(t, meta->value), keys[i], &value) &&
            osc_json_int(value, &v))
            osc_strbuf_addf(&out, "%s\"%s\": %lld", out.len > 1 ? ", " : "", keys[i],
                            (long long)v);
    }
    osc_strbuf_addc(&out, '}');
    st = out.status;
    if (st == OSC_OK)
        st = osc_strings_add(&t->strings, (struct osc_str){out.s, (uint32_t)out.len},
                             &meta->value, NULL);
    meta->is_string = false;
    osc_strbuf_fini(&out);
    return st;
}

static osc_status redact_members(struct osc_trace *t)
{
    uint32_t n = 0;
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < t->n_metas && st == OSC_OK; i++) {
        const struct osc_str key = osc_trace_str(t, t->metas[i].key);
        bool is_listed = false;

        if (osc_str_eq(key, OSC_STR("distributedInfo"))) {
            st = redact_distribution(t, &t->metas[i]);
            is_listed = true;
        }
        for (size_t k = 0; k < sizeof members / sizeof *members; k++)
            is_listed = is_listed || osc_str_eq(key, osc_str_c(members[k]));
        if (is_listed)
            t->metas[n++] = t->metas[i];
    }
    t->n_metas = n;
    return st;
}

osc_status osc_redact(struct osc_trace *t)
{
    struct renaming r = {.t = t, .n_strings = osc_strings_bound(&t->strings)};
    osc_status st = OSC_OK;

    r.to = osc_calloc((size_t)r.n_strings + 1, sizeof *r.to);
    if (!r.to)
        return OSC_ENOMEM;
    (void)osc_trace_meta(t, "host_name", &r.host);
    for (uint32_t i = 1; i < t->n_forms; i++)
        redact_form(&t->forms[i]);
    st = rename_rows(&r, &t->events);
    if (st == OSC_OK)
        st = rename_rows(&r, &t->others);
    if (st == OSC_OK)
        st = rename_owners(&r);
    if (st == OSC_OK)
        st = rename_source(&r);
    if (st == OSC_OK)
        st = redact_members(t);
    osc_strbuf_fini(&r.scratch);
    osc_free(r.to);
    return st;
}
