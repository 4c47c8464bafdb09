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

/* Those that stay if they are lists, and of a list its numbers. */
static const enum osc_arg_key lists[] = {
    OSC_ARG_KEY_GRID,
    OSC_ARG_KEY_BLOCK,
};

/* Members of an event that stay: what ties events to each other. */
static const char *const ties[] = {
    "id", "id2", "bp", "s", "scope", "bind_id", "flow_in", "flow_out",
};

/* Members of the file that stay if they are numbers, true or false. */
static const char *const switches[] = {
    "schemaVersion", "baseTimeNanoseconds", "record_shapes",        "profile_memory",
    "with_stack",    "with_modules",        "with_flops",           "cuda_driver_version",
    "torch_version", "pytorch_version",     "cuda_runtime_version",
};

/* Those that stay as text, too. */
static const char *const versions[] = {
    "torch_version",
    "pytorch_version",
    "cuda_driver_version",
    "cuda_runtime_version",
};

/* What stays of each device, if it is a number; its name does, too. */
static const char *const properties[] = {
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

static bool stays(const struct osc_trace *t, const struct osc_form *f, uint32_t i)
{
    static const enum osc_arg_key collective = OSC_ARG_KEY_COLLECTIVE_NAME;
    const struct osc_slot *const slot = &f->slots[i];

    if (slot->is_member)
        return is_one_of(osc_trace_str(t, slot->key), ties, N_OF(ties));
    /* Metadata names processes and threads; a counter is its values. */
    if (f->ph == 'M' || (f->ph == 'C' && is_number(slot)))
        return true;
    if (slot->type == OSC_ARG_STRING)
        return is_known(f, i, &collective, 1);
    if (slot->type == OSC_ARG_TEXT)
        return is_known(f, i, lists, N_OF(lists));
    return is_known(f, i, numbers, N_OF(numbers));
}

/* Forget arguments: their words lie idle. */
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

/* Whether a URL of NAME goes on at FROM, behind its scheme. */
static bool is_url(struct osc_str name, uint32_t from)
{
    return from > 0 && name.s[from - 1] == ':' && name.len - from > 2 && name.s[from] == '/' &&
           name.s[from + 1] == '/';
}

/*
 * Append the last part of the path of the URL that goes on at FROM, or its host: neither
 * who asks nor what is asked. Returns where the URL ends.
 */
static uint32_t add_url(struct osc_strbuf *out, struct osc_str name, uint32_t from)
{
    uint32_t end = from, path_end = 0, last = from;

    for (; end < name.len; end++) {
        const char c = name.s[end];

        if ((unsigned char)c <= ' ' || (c != '\0' && strchr("\"'`()<>{}", c)))
            break;
        if (path_end == 0 && (c == '?' || c == '#'))
            path_end = end;
        if (path_end == 0 && (c == '/' || c == '@'))
            last = end + 1;
    }
    if (path_end == 0)
        path_end = end;
    osc_strbuf_add(out, name.s + last, path_end - last);
    return end;
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
        if (is_url(name, i)) {
            i = add_url(out, name, i);
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

static uint32_t skip_blanks(struct osc_str name, uint32_t from)
{
    while (from < name.len && (unsigned char)name.s[from] <= ' ')
        from++;
    return from;
}

/* Where the word of NAME that begins at FROM ends. */
static uint32_t skip_word(struct osc_str name, uint32_t from)
{
    while (from < name.len && (unsigned char)name.s[from] > ' ')
        from++;
    return from;
}

static bool has_separator(const char *s, size_t len)
{
    return memchr(s, '/', len) || memchr(s, '\\', len);
}

/* Whether WORD goes on with PROGRAM: a number, or more of a path that has blanks. */
static bool goes_on(struct osc_str program, struct osc_str word)
{
    uint32_t n_digits = 0;

    while (n_digits < word.len && is_digit(word.s[n_digits]))
        n_digits++;
    if (word.len == 0 || n_digits == word.len)
        return word.len > 0;
    return *word.s != '-' && !is_separator(*word.s) && has_separator(word.s, word.len) &&
           has_separator(program.s, program.len);
}

void osc_redact_process(struct osc_strbuf *out, struct osc_str name, struct osc_str host)
{
    uint32_t start = 0, end = skip_word(name, 0);

    while (end < name.len) {
        const uint32_t word = skip_blanks(name, end), next = skip_word(name, word);

        if (!goes_on((struct osc_str){name.s, end},
                     (struct osc_str){name.s + word, next - word}))
            break;
        end = next;
    }
    for (uint32_t i = 0; i < end; i++) {
        if (is_separator(name.s[i]))
            start = i + 1;
    }
    osc_redact_name(out, (struct osc_str){name.s + start, end - start}, host);
}

struct renaming {
    struct osc_trace *t;
    struct osc_str host;
    uint32_t *to; /* owned; by osc_sid: the new one + 1, or 0: not looked at */
    uint32_t n_strings;
    bool *has_texts; /* owned; by form */
    struct osc_strbuf scratch;
};

/* Take the id of what stands in the scratch. */
static osc_status intern_scratch(struct renaming *r, osc_sid *id)
{
    if (r->scratch.status != OSC_OK)
        return r->scratch.status;
    return osc_strings_add(
        &r->t->strings,
        (struct osc_str){r->scratch.s ? r->scratch.s : "", (uint32_t)r->scratch.len}, id, NULL);
}

/* The id that takes the place of *ID, a command line. */
static osc_status rename_process(struct renaming *r, uint32_t *id)
{
    osc_sid fresh;

    if (*id == 0)
        return OSC_OK;
    osc_strbuf_clear(&r->scratch);
    osc_redact_process(&r->scratch, osc_trace_str(r->t, (osc_sid){*id}), r->host);
    const osc_status st = intern_scratch(r, &fresh);
    if (st == OSC_OK)
        *id = fresh.v;
    return st;
}

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
        const osc_status st = intern_scratch(r, &fresh);
        if (st != OSC_OK)
            return st;
        r->to[*id] = fresh.v + 1;
    }
    *id = r->to[*id] - 1;
    return OSC_OK;
}

/* Whether LIST, of JSON, has nothing but numbers. */
static bool is_of_numbers(struct osc_str list)
{
    for (uint32_t i = 0; i < list.len; i++) {
        if (list.s[i] == '\0' || !strchr("0123456789+-.eE,[] \t\r\n", list.s[i]))
            return false;
    }
    return true;
}

/* Likewise of *ID, the value of SLOT of an event of form F; IS_PROCESS: a command line. */
static osc_status rename_value(struct renaming *r, const struct osc_form *f,
                               const struct osc_slot *slot, bool is_process, uint32_t *id)
{
    const bool is_list = slot->type == OSC_ARG_TEXT && f->ph != 'M' && !slot->is_member;
    osc_sid none;

    if (is_process)
        return rename_process(r, id);
    if (!is_list)
        return rename_sid(r, id);
    if (is_of_numbers(osc_trace_str(r->t, (osc_sid){*id})))
        return OSC_OK;
    const osc_status st = osc_strings_add(&r->t->strings, OSC_STR("[]"), &none, NULL);
    *id = none.v;
    return st;
}

static bool has_texts(const struct osc_form *f)
{
    for (uint32_t k = 0; k < f->n_slots; k++) {
        if (f->slots[k].type == OSC_ARG_STRING || f->slots[k].type == OSC_ARG_TEXT)
            return true;
    }
    return false;
}

/* Whether metadata called NAME says what a process is. */
static bool says_process(const struct osc_trace *t, uint32_t name)
{
    const struct osc_str text = osc_trace_str(t, (osc_sid){name});

    return osc_str_eq(text, OSC_STR("process_name")) ||
           osc_str_eq(text, OSC_STR("process_labels"));
}

/* The texts among the arguments of row I of C. */
static osc_status rename_args(struct renaming *r, struct osc_chunk *c, uint32_t i)
{
    const struct osc_form *const f = &r->t->forms[c->form[i]];
    const bool is_process = f->ph == 'M' && says_process(r->t, c->name[i]);
    bool is_other = false;
    osc_status st = OSC_OK;

    if (f->n_words == 0 || !r->has_texts[c->form[i]])
        return OSC_OK;
    uint32_t *const words = osc_malloc(f->n_words * sizeof *words);
    if (!words)
        return OSC_ENOMEM;
    memcpy(words, osc_row_words(c, i), f->n_words * sizeof *words);
    for (uint32_t k = 0; k < f->n_slots && st == OSC_OK; k++) {
        const struct osc_slot *const slot = &f->slots[k];

        if (slot->type != OSC_ARG_STRING && slot->type != OSC_ARG_TEXT)
            continue;
        const uint32_t old = words[slot->word];
        st = rename_value(r, f, slot, is_process, &words[slot->word]);
        is_other = is_other || words[slot->word] != old;
    }
    if (st == OSC_OK && is_other)
        st = osc_chunk_replace_words(c, i, words, f->n_words);
    osc_free(words);
    return st;
}

/* Categories, and names of arguments: a counter's are the program's. */
static osc_status rename_forms(struct renaming *r)
{
    osc_status st = OSC_OK;

    for (uint32_t i = 1; i < r->t->n_forms && st == OSC_OK; i++) {
        struct osc_form *const f = &r->t->forms[i];

        st = rename_sid(r, &f->category.v);
        for (uint32_t k = 0; k < f->n_slots && st == OSC_OK; k++)
            st = rename_sid(r, &f->slots[k].key.v);
        r->has_texts[i] = has_texts(f);
    }
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

    for (uint32_t i = path.len; i > 0; i--) {
        if (path.s[i - 1] == '/') {
            path = (struct osc_str){path.s + i, path.len - i};
            break;
        }
    }
    osc_strbuf_clear(&r->scratch);
    osc_redact_name(&r->scratch, path, r->host);
    return intern_scratch(r, &r->t->source);
}

static osc_status rename_owners(struct renaming *r)
{
    struct osc_trace *const t = r->t;
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < t->n_tracks && st == OSC_OK; i++) {
        st = rename_sid(r, &t->tracks[i].name.v);
        if (st == OSC_OK)
            st = rename_sid(r, &t->tracks[i].pid.v);
        if (st == OSC_OK)
            st = rename_sid(r, &t->tracks[i].tid.v);
    }
    for (uint32_t i = 0; i < t->n_processes && st == OSC_OK; i++) {
        st = rename_process(r, &t->processes[i].name.v);
        if (st == OSC_OK)
            st = rename_sid(r, &t->processes[i].pid.v);
        if (st == OSC_OK)
            st = rename_process(r, &t->processes[i].labels.v);
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

/* Append member KEY of DEVICE, which is raw text, without paths and hosts. */
static void add_property(struct renaming *r, struct osc_strbuf *out, struct osc_str device,
                         const char *key)
{
    struct osc_str value;
    int64_t v;

    if (!osc_json_member(device, key, &value))
        return;
    const bool is_text = value.len >= 2 && *value.s == '"';
    if (is_text)
        value = (struct osc_str){value.s + 1, value.len - 2};
    if (strcmp(key, "name") == 0 && is_text) {
        struct osc_strbuf name = {0}, clean = {0};

        (void)osc_json_unescape(value.s, value.s + value.len, &name);
        osc_redact_name(&clean, (struct osc_str){name.s ? name.s : "", (uint32_t)name.len},
                        r->host);
        if (name.status != OSC_OK || clean.status != OSC_OK)
            out->status = OSC_ENOMEM;
        osc_strbuf_adds(out, "\"name\": ");
        osc_json_quote(out, (struct osc_str){clean.s ? clean.s : "", (uint32_t)clean.len});
        osc_strbuf_adds(out, ", ");
        osc_strbuf_fini(&name);
        osc_strbuf_fini(&clean);
    } else if (osc_json_int(value, &v)) {
        osc_strbuf_addf(out, "\"%s\": %lld, ", key, (long long)v);
    }
}

/* Of deviceProperties numbers that are known, and names. */
static osc_status redact_devices(struct renaming *r, struct osc_meta *meta)
{
    struct osc_str rest = osc_trace_str(r->t, meta->value), device;
    struct osc_strbuf out = {0};
    osc_status st;

    osc_strbuf_addc(&out, '[');
    while (!meta->is_string && osc_json_next(&rest, &device)) {
        osc_strbuf_adds(&out, out.len > 1 ? ", {" : "{");
        add_property(r, &out, device, "name");
        for (size_t i = 0; i < N_OF(properties); i++)
            add_property(r, &out, device, properties[i]);
        if (out.status == OSC_OK && out.s[out.len - 1] == ' ')
            out.len -= 2; /* the last comma */
        osc_strbuf_addc(&out, '}');
    }
    osc_strbuf_addc(&out, ']');
    st = out.status;
    if (st == OSC_OK)
        st = osc_strings_add(&r->t->strings, (struct osc_str){out.s, (uint32_t)out.len},
                             &meta->value, NULL);
    meta->is_string = false;
    osc_strbuf_fini(&out);
    return st;
}

static bool is_switch(struct osc_str value)
{
    return osc_str_eq(value, OSC_STR("true")) || osc_str_eq(value, OSC_STR("false")) ||
           (value.len > 0 && strchr("-0123456789", *value.s));
}

/* Whether META, redacted, stays. */
static osc_status redact_member(struct renaming *r, struct osc_meta *meta, bool *is_kept)
{
    const struct osc_str key = osc_trace_str(r->t, meta->key);
    const struct osc_str value = osc_trace_str(r->t, meta->value);

    *is_kept = true;
    if (osc_str_eq(key, OSC_STR("distributedInfo")))
        return redact_distribution(r->t, meta);
    if (osc_str_eq(key, OSC_STR("deviceProperties")))
        return redact_devices(r, meta);
    if (meta->is_string && is_one_of(key, versions, N_OF(versions)))
        return rename_sid(r, &meta->value.v);
    if (meta->is_string)
        *is_kept = osc_str_eq(key, OSC_STR("displayTimeUnit")) &&
                   (osc_str_eq(value, OSC_STR("ms")) || osc_str_eq(value, OSC_STR("ns")));
    else
        *is_kept = is_one_of(key, switches, N_OF(switches)) && is_switch(value);
    return OSC_OK;
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

osc_status osc_redact(struct osc_trace *t)
{
    struct renaming r = {.t = t, .n_strings = osc_strings_bound(&t->strings)};
    osc_status st = OSC_OK;

    r.to = osc_calloc((size_t)r.n_strings + 1, sizeof *r.to);
    r.has_texts = osc_calloc((size_t)t->n_forms + 1, sizeof *r.has_texts);
    if (!r.to || !r.has_texts) {
        st = OSC_ENOMEM;
        goto out;
    }
    (void)osc_trace_meta(t, "host_name", &r.host);
    for (uint32_t i = 1; i < t->n_forms; i++)
        redact_form(t, &t->forms[i]);
    st = rename_forms(&r);
    if (st == OSC_OK)
        st = rename_rows(&r, &t->events);
    if (st == OSC_OK)
        st = rename_rows(&r, &t->others);
    if (st == OSC_OK)
        st = rename_owners(&r);
    if (st == OSC_OK)
        st = rename_source(&r);
    if (st == OSC_OK)
        st = redact_members(&r);
out:
    osc_strbuf_fini(&r.scratch);
    osc_free(r.has_texts);
    osc_free(r.to);
    return st;
}
