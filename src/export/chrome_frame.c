/* SPDX-License-Identifier: Apache-2.0 */
/* Everything outside the list of events: Kineto's top-level members. */
#include "export/chrome_text.h"

#include <string.h>

#include "codec/json.h"
#include "export/chrome_ids.h"

/* Only this member comes after the events, as in Kineto. */
#define TRACE_NAME "traceName"

static bool is_key(const struct osc_trace *t, const struct osc_meta *meta, const char *key)
{
    return osc_str_eq(osc_trace_str(t, meta->key), osc_str_c(key));
}

/*
 * Whether META is an option of torch.profiler in a recording. A recording has all options, on
 * or off; Kineto writes only those that are on, as the number 1.
 */
static bool is_option(const struct osc_trace *t, const struct osc_meta *meta)
{
    static const char *const options[] = {"record_shapes", "profile_memory", "with_stack",
                                          "with_modules", "with_flops"};

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (is_key(t, meta, options[i]))
            return osc_chrome_is_ours(t);
    }
    return false;
}

static void add_member(struct osc_strbuf *out, const struct osc_trace *t,
                       const struct osc_meta *meta)
{
    const struct osc_str value = osc_trace_str(t, meta->value);
    const bool is_text = meta->is_string && !is_option(t, meta);

    osc_json_quote(out, osc_trace_str(t, meta->key));
    osc_strbuf_adds(out, ": ");
    const size_t start = out->len;
    if (is_text || !osc_json_check(value, out))
        osc_json_quote(out, value);
    else if (out->len == start)
        osc_strbuf_addstr(out, value);
}

static bool is_left_out(const struct osc_trace *t, const struct osc_meta *meta)
{
    return is_key(t, meta, TRACE_NAME) || is_key(t, meta, "traceEvents") ||
           (is_option(t, meta) && osc_str_eq(osc_trace_str(t, meta->value), OSC_STR("0")));
}

static bool has_member(const struct osc_trace *t, const char *key)
{
    struct osc_str value;

    return osc_trace_meta(t, key, &value);
}

/* Whether the members of the file contain its rank; otherwise only its name does. */
static bool says_rank(const struct osc_trace *t)
{
    static const char *const keys[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                       "SLURM_PROCID"};
    struct osc_str value, rank;

    if (osc_trace_meta(t, "distributedInfo", &value) && osc_json_member(value, "rank", &rank))
        return true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (has_member(t, keys[i]))
            return true;
    }
    return false;
}

void osc_chrome_text_head(const struct osc_trace *t, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "{\n");
    /* A recording becomes a trace like Kineto's; a trace of somebody else stays what it was. */
    if (osc_chrome_is_ours(t) && !has_member(t, "schemaVersion"))
        osc_strbuf_adds(out, "\"schemaVersion\": 1,\n");
    if (osc_chrome_is_ours(t) && !has_member(t, "displayTimeUnit"))
        osc_strbuf_adds(out, "\"displayTimeUnit\": \"ms\",\n");
    if (osc_chrome_is_ours(t) && t->has_rank && !says_rank(t)) {
        osc_strbuf_addf(out,
                        has_member(t, "distributedInfo")
                            ? "\"RANK\": \"%d\",\n"
                            : "\"distributedInfo\": {\"rank\": %d},\n",
                        t->rank);
    }
    for (uint32_t i = 0; i < t->n_metas; i++) {
        if (is_left_out(t, &t->metas[i]))
            continue;
        add_member(out, t, &t->metas[i]);
        osc_strbuf_adds(out, ",\n");
    }
    osc_strbuf_adds(out, "\"traceEvents\": [\n");
}

static void add_who(struct osc_strbuf *out, const char *key, struct osc_str who)
{
    int64_t number;

    if (who.len == 0)
        return;
    osc_strbuf_adds(out, key);
    if (osc_json_int(who, &number) && number >= 0)
        osc_strbuf_addstr(out, who);
    else
        osc_json_quote(out, who);
}

/* Write a WHAT record that gives TRACK or its process a NAME. */
static void add_name(const struct osc_trace *t, const struct osc_track *track, const char *what,
                     osc_sid name, struct osc_strbuf *out)
{
    osc_strbuf_addf(out, "%s{\"ph\":\"M\",\"name\":\"%s\"", out->len > 0 ? ",\n" : "", what);
    add_who(out, ",\"pid\":", osc_trace_str(t, track->pid));
    add_who(out, ",\"tid\":", osc_trace_str(t, track->tid));
    osc_strbuf_adds(out, ",\"ts\":0.000,\"args\":{\"name\":");
    osc_json_quote(out, osc_trace_str(t, name));
    osc_strbuf_adds(out, "}}");
}

void osc_chrome_text_names(const struct osc_trace *t, struct osc_strbuf *out)
{
    uint32_t last = UINT32_MAX; /* the process of the last name */

    for (uint32_t i = 0; i < t->n_forms; i++) {
        if (t->forms[i].shape == OSC_SHAPE_ABOUT)
            return;
    }
    for (uint32_t i = 1; i < t->n_tracks; i++) {
        const struct osc_track *const track = &t->tracks[i];
        const osc_sid process = t->processes[track->process].name;

        if (process.v != 0 && track->process != last)
            add_name(t, track, "process_name", process, out);
        last = track->process;
        if (track->name.v != 0)
            add_name(t, track, "thread_name", track->name, out);
    }
}

void osc_chrome_text_tail(const struct osc_trace *t, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "\n]");
    for (uint32_t i = 0; i < t->n_metas; i++) {
        if (!is_key(t, &t->metas[i], TRACE_NAME))
            continue;
        osc_strbuf_adds(out, ",\n");
        add_member(out, t, &t->metas[i]);
    }
    osc_strbuf_adds(out, "\n}\n");
}
