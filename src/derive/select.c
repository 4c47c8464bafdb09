/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "derive/allocations.h"
#include "derive/facts.h"
#include "model/known_names.h"

bool osc_selection_is_all(const struct osc_selection *s)
{
    return !s->process && !s->thread && !s->device && !s->steps && !s->has_from && !s->has_to;
}

int64_t osc_selection_end(const struct osc_selection *s, const struct osc_trace *t)
{
    int64_t to_ns;

    return s && s->has_to && !__builtin_add_overflow(t->origin_ns, s->to_ns, &to_ns) &&
                   to_ns < t->max_end_ns
               ? to_ns
               : t->max_end_ns;
}

/* PyTorch itself writes "" for a number, so an empty one counts as a number. */
static bool is_number(const struct osc_trace *t, osc_sid id, const char *text)
{
    return osc_str_eq(osc_trace_str(t, id), osc_str_c(text));
}

static bool is_name(const struct osc_trace *t, osc_sid id, const char *text)
{
    return id.v != 0 && osc_str_eq(osc_trace_str(t, id), osc_str_c(text));
}

/* What was found of the selected process and thread. */
struct found {
    bool process, thread;
};

/* Mark the threads, or the queues of devices and lines that repeat others, of the selected
 * process and thread. */
static struct found mark_tracks(struct osc_filter *f, bool are_threads)
{
    const struct osc_trace *const t = f->t;
    const char *const process = f->s->process, *const thread = f->s->thread;
    struct found found = {.process = !process, .thread = !thread};

    for (uint32_t k = 0; k < t->n_tracks; k++) {
        const struct osc_track *const track = &t->tracks[k];
        const bool is_process = !process || is_number(t, track->pid, process) ||
                                (track->process < t->n_processes &&
                                 is_name(t, t->processes[track->process].name, process));
        const bool is_thread =
            !thread || is_number(t, track->tid, thread) || is_name(t, track->name, thread);

        if ((track->is_queue || track->is_summary) == are_threads || track->n_events == 0)
            continue;
        f->has_track[k] = is_process && is_thread;
        found.process = found.process || is_process;
        found.thread = found.thread || (is_process && is_thread);
    }
    return found;
}

/* Mark the tracks of the selected process and thread, by id or by name. Other tracks are asked
 * only if no thread is that: the processes of devices often have the name of the program. */
static osc_status choose_tracks(struct osc_filter *f, struct osc_err *err)
{
    const char *const process = f->s->process, *const thread = f->s->thread;
    struct found found;

    if (!process && !thread) {
        memset(f->has_track, 1, (size_t)f->t->n_tracks + 1);
        return OSC_OK;
    }
    found = mark_tracks(f, true);
    if (!found.process || !found.thread)
        found = mark_tracks(f, false);
    if (!found.process)
        return osc_fail(err, OSC_EINVAL,
                        "--process: there is no '%s' in the trace; 'opscope table threads' and "
                        "'opscope table tracks' list all",
                        process);
    if (!found.thread)
        return osc_fail(err, OSC_EINVAL,
                        "--thread: there is no '%s' in the trace; 'opscope table threads' and "
                        "'opscope table tracks' list all",
                        thread);
    return OSC_OK;
}

bool osc_device_has_word(struct osc_str name, struct osc_str word)
{
    struct osc_str family = name, asked = word;
    const int64_t index = osc_device_split(name, &family);

    return name.len > 0 && osc_device_split(word, &asked) == index &&
           osc_str_eq(osc_known_device_word(family), asked);
}

/* Mark the queues of the device ASKED for, by its name or by PyTorch's word for it. */
static bool choose_queues(struct osc_filter *f, struct osc_str asked, bool is_word)
{
    const struct osc_trace *const t = f->t;
    bool is_any = false;

    for (uint32_t k = 0; k < t->n_tracks; k++) {
        const struct osc_str name = osc_trace_str(t, t->tracks[k].device);

        f->has_queue[k] = is_word ? osc_device_has_word(name, asked) : osc_str_eq(name, asked);
        is_any = is_any || f->has_queue[k];
    }
    return is_any;
}

/* Whether row I of C is a record of memory of the device ASKED for. */
static bool is_memory_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                         struct osc_str asked)
{
    char name[OSC_MEMORY_DEVICE_NAME];
    int64_t type, id;

    if ((c->kind[i] != OSC_KIND_ALLOC && c->kind[i] != OSC_KIND_FREE) ||
        !osc_row_arg_int(t, c, i, OSC_ARG_KEY_DEVICE_TYPE, &type) || type <= 0 || type > 127 ||
        !osc_row_arg_int(t, c, i, OSC_ARG_KEY_DEVICE_ID, &id) || id < -1 || id > INT16_MAX)
        return false;
    osc_memory_device_name(t, (uint32_t)type, (int32_t)id, name);
    return osc_str_eq(osc_str_c(name), asked) || osc_device_has_word(osc_str_c(name), asked);
}

/* Whether T has records of memory of the device ASKED for. */
static bool has_memory_of(const struct osc_trace *t, struct osc_str asked)
{
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (is_memory_of(t, c, i, asked))
                return true;
        }
    }
    return false;
}

static osc_status choose_devices(struct osc_filter *f, struct osc_err *err)
{
    const char *const device = f->s->device;

    if (!device) {
        memset(f->has_queue, 1, (size_t)f->t->n_tracks + 1);
        return OSC_OK;
    }
    /* "cpu" is a device too: selecting it drops all work of other devices. */
    if (choose_queues(f, osc_str_c(device), false) || strcmp(device, "cpu") == 0 ||
        choose_queues(f, osc_str_c(device), true))
        return OSC_OK;
    if (has_memory_of(f->t, osc_str_c(device)))
        return osc_fail(
            err, OSC_EINVAL,
            "--device: there is no work of '%s' in the trace, only memory: see the "
            "tables memory, memory_events, memory_curve, memory_peaks and memory_live",
            device);
    return osc_fail(err, OSC_EINVAL,
                    "--device: there is no '%s' in the trace; 'opscope table tracks' lists all",
                    device);
}

/* One end of a range of steps: "7" is a label, "@2" an ordinal. */
static bool parse_end(const char **text, bool *is_ordinal, uint64_t *number)
{
    char *end;

    *is_ordinal = **text == '@';
    *text += *is_ordinal;
    if (**text < '0' || **text > '9')
        return false;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return true;
}

/* "A" or "A-B", both labels or both ordinals. */
static bool parse_steps(const char *text, bool *is_ordinal, uint64_t *from, uint64_t *to)
{
    bool is_ordinal_to;

    if (!parse_end(&text, is_ordinal, from))
        return false;
    *to = *from;
    is_ordinal_to = *is_ordinal;
    if (*text == '-') {
        text++;
        if (!parse_end(&text, &is_ordinal_to, to))
            return false;
    }
    return *text == '\0' && is_ordinal_to == *is_ordinal && *from <= *to;
}

bool osc_select_is_steps(const char *text)
{
    bool is_ordinal;
    uint64_t from, to;

    return parse_steps(text, &is_ordinal, &from, &to);
}

/* The label of step I as a number; false if it is not a number. */
static bool label_number(const struct osc_trace *t, uint32_t i, uint64_t *number)
{
    const struct osc_str label = osc_trace_str(t, t->steps[i].label);

    *number = 0;
    if (t->steps[i].row.v == 0)
        return true; /* without annotations the only step is step 0 */
    if (label.len == 0 || label.len > 18)
        return false;
    for (uint32_t k = 0; k < label.len; k++) {
        if (label.s[k] < '0' || label.s[k] > '9')
            return false;
        *number = *number * 10 + (uint64_t)(label.s[k] - '0');
    }
    return true;
}

osc_status osc_filter_choose_steps(struct osc_filter *f, struct osc_err *err)
{
    const struct osc_trace *const t = f->t;
    bool is_ordinal, is_any = false;
    uint64_t from, to;

    if (!f->s->steps)
        return OSC_OK;
    if (!parse_steps(f->s->steps, &is_ordinal, &from, &to))
        return osc_fail(
            err, OSC_EINVAL,
            "--steps: '%s' is not a range; use 5, 5-7 (labels), @0 or @0-@2 (numbers)",
            f->s->steps);
    f->has_step = osc_calloc((size_t)t->n_steps + 1, 1);
    if (!f->has_step)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        uint64_t number = (uint64_t)t->steps[i].ordinal + f->s->n_steps_before;

        f->has_step[i] =
            (is_ordinal || label_number(t, i, &number)) && number >= from && number <= to;
        if (!f->has_step[i])
            continue;
        f->first_step = is_any ? f->first_step : i + 1;
        f->last_step = i + 1;
        is_any = true;
    }
    if (!is_any)
        return osc_fail(
            err, OSC_EINVAL,
            "--steps: there is no '%s' in the trace; 'opscope table steps' lists all",
            f->s->steps);
    /* Without annotations the only step contains everything. */
    if (t->steps[0].row.v == 0) {
        osc_free(f->has_step);
        f->has_step = NULL;
    }
    return OSC_OK;
}

static bool is_in_time(const struct osc_filter *f, int64_t ts_ns)
{
    const int64_t at_ns = ts_ns - f->t->origin_ns;

    return (!f->s->has_from || at_ns >= f->s->from_ns) &&
           (!f->s->has_to || at_ns < f->s->to_ns);
}

bool osc_filter_skips(const struct osc_filter *f, const struct osc_chunk *c)
{
    const struct osc_step_span *const span =
        f->has_step ? &osc_trace_facts(f->t)->selection.spans[c->index] : NULL;

    /* Ends are not before starts, so the latest end bounds both. */
    if (f->s->has_from && c->max_end_ns - f->t->origin_ns < f->s->from_ns)
        return true;
    if (f->s->has_to && c->min_ts_ns - f->t->origin_ns >= f->s->to_ns)
        return true;
    return span && (span->last < f->first_step || span->first > f->last_step);
}

bool osc_filter_wants_between(const struct osc_filter *f, int64_t first_ns, int64_t last_ns)
{
    const int64_t first_at_ns = first_ns - f->t->origin_ns,
                  last_at_ns = last_ns - f->t->origin_ns;

    return !f->has_step && (!f->s->has_from || last_at_ns >= f->s->from_ns) &&
           (!f->s->has_to || first_at_ns < f->s->to_ns);
}

bool osc_filter_wants_point(const struct osc_filter *f, uint32_t track, int64_t at_ns)
{
    return !f->has_step && (f->has_track[track] || f->t->tracks[track].is_queue) &&
           is_in_time(f, at_ns);
}

static bool is_in_steps(const struct osc_filter *f, uint32_t step)
{
    return step != 0 && f->has_step[step - 1];
}

/* Whether row I of C, on a device, is selected, ignoring time and device. */
static bool has_device_row(const struct osc_filter *f, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_select_index *const x = &osc_trace_facts(f->t)->selection;

    if (f->has_step && !is_in_steps(f, osc_select_device_step(f->t, f->c, x, c, i)))
        return false;
    if (!f->s->process && !f->s->thread)
        return true;
    if (f->has_track[c->track[i]])
        return true; /* its queue was asked for */
    const osc_row cause = osc_select_cause(f->t, f->c, x, c, i);
    return cause.v != 0 &&
           f->has_track[osc_chunk_of(&f->t->events, cause)->track[osc_row_place(cause)]];
}

bool osc_filter_wants(const struct osc_filter *f, const struct osc_chunk *c, uint32_t i)
{
    if (!is_in_time(f, c->ts_ns[i]))
        return false;
    if (osc_is_on_device(f->c, c, i))
        return f->has_queue[c->track[i]] && has_device_row(f, c, i);
    return f->has_track[c->track[i]] &&
           (!f->has_step || is_in_steps(f, osc_select_step(f->t, c, i)));
}

uint32_t osc_select_facts(const struct osc_selection *s)
{
    return s->process || s->thread || s->steps ? OSC_FACT_SELECTION : 0;
}

osc_status osc_filter_make(struct osc_filter *f, const struct osc_trace *t,
                           const struct osc_selection *s, struct osc_err *err)
{
    osc_status st = OSC_OK;

    *f = (struct osc_filter){.t = t, .c = &osc_trace_facts(t)->classes, .s = s};
    f->has_track = osc_calloc((size_t)t->n_tracks + 1, 1);
    f->has_queue = osc_calloc((size_t)t->n_tracks + 1, 1);
    st = f->has_track && f->has_queue ? choose_tracks(f, err) : OSC_ENOMEM;
    if (st == OSC_OK)
        st = choose_devices(f, err);
    if (st == OSC_OK)
        st = osc_filter_choose_steps(f, err);
    if (st != OSC_OK)
        osc_filter_fini(f);
    return st;
}

void osc_filter_fini(struct osc_filter *f)
{
    osc_free(f->has_track);
    osc_free(f->has_queue);
    osc_free(f->has_step);
    *f = (struct osc_filter){0};
}
