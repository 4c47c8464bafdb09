/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/merged_devices.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "codec/json.h"
#include "model/merged_pids.h"

#define MAX_INDEX 65535 /* of a device: beyond it, a number is no index */

/* A queue of a device. */
struct queue {
    struct osc_str rank;
    int64_t number, moved; /* in the file, and in all of the trace */
    uint32_t track;
};

struct listed {
    int64_t number;
    uint32_t place;
};

static int compare_ranks(struct osc_str a, struct osc_str b)
{
    if (a.len != b.len) /* TP9 before TP10 */
        return a.len < b.len ? -1 : 1;
    return a.len > 0 ? memcmp(a.s, b.s, a.len) : 0;
}

static int by_rank(const void *x, const void *y)
{
    const struct queue *const a = x, *const b = y;
    const int order = compare_ranks(a->rank, b->rank);

    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

static int by_number(const void *x, const void *y)
{
    const struct queue *const a = x, *const b = y;

    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return compare_ranks(a->rank, b->rank);
}

static int by_listed(const void *x, const void *y)
{
    const struct listed *const a = x, *const b = y;

    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Collect the queues of numbered devices; Q has room for all tracks. */
static size_t collect(const struct osc_trace *t, struct queue *q)
{
    size_t n = 0;

    for (uint32_t i = 1; i < t->n_tracks; i++) {
        struct osc_str family;
        const int64_t number = osc_device_split(osc_trace_str(t, t->tracks[i].device), &family);

        if (number >= 0 && number <= MAX_INDEX)
            q[n++] = (struct queue){.rank = osc_merged_rank(osc_trace_str(t, t->tracks[i].pid)),
                                    .number = number,
                                    .track = i};
    }
    return n;
}

/* Move the numbers of the N queues at Q, sorted by rank, behind those of the ranks before. */
static void move(struct queue *q, size_t n)
{
    int64_t first = 0, next = 0;

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && compare_ranks(q[i].rank, q[i - 1].rank) != 0)
            first = next;
        q[i].moved = first + q[i].number;
        if (q[i].moved >= next)
            next = q[i].moved + 1;
    }
}

/* Whether two ranks have a device of one number among the N queues at Q, sorted by number. */
static bool has_equal(const struct queue *q, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (q[i].number == q[i - 1].number && compare_ranks(q[i].rank, q[i - 1].rank) != 0)
            return true;
    }
    return false;
}

/* Move the numbers of properties as those of the N queues at Q, sorted by number. */
static osc_status move_listed(struct osc_trace *t, const struct queue *q, size_t n)
{
    struct listed *const l = osc_malloc(((size_t)t->n_devices + 1) * sizeof *l);
    size_t k = 0, k_end, n_ranks; /* from K to K_END have the number that N_RANKS have */

    if (!l)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < t->n_devices; i++)
        l[i] = (struct listed){t->devices[i].index, i};
    osc_sort(l, t->n_devices, sizeof *l, by_listed);
    for (size_t i = 0, end; i < n; i = end) {
        n_ranks = 1;
        for (end = i + 1; end < n && q[end].number == q[i].number; end++)
            n_ranks += q[end].moved != q[end - 1].moved;
        while (k < t->n_devices && l[k].number < q[i].number)
            k++;
        for (k_end = k; k_end < t->n_devices && l[k_end].number == q[i].number;)
            k_end++;
        if (k_end - k != n_ranks)
            continue;
        for (size_t at = i; at < end; at++) {
            k += at > i && q[at].moved != q[at - 1].moved;
            t->devices[l[k].place].index = q[at].moved;
        }
        k = k_end;
    }
    osc_free(l);
    return OSC_OK;
}

static osc_status rename_queue(struct osc_trace *t, const struct queue *q)
{
    struct osc_track *const track = &t->tracks[q->track];
    struct osc_str family = OSC_STR("");
    char name[64];

    (void)osc_device_split(osc_trace_str(t, track->device), &family);
    const int len = snprintf(name, sizeof name, "%.*s:%lld", (int)family.len, family.s,
                             (long long)q->moved);
    if (len < 0 || (size_t)len >= sizeof name)
        return OSC_OK; /* a name that is no family */
    return osc_strings_add(&t->strings, (struct osc_str){name, (uint32_t)len}, &track->device,
                           NULL);
}

/* Give queues the devices that records tell, and properties the numbers that a member lists. */
static void take_told(struct osc_trace *t)
{
    const osc_sid word = osc_strings_find(&t->strings, OSC_STR(OSC_QUEUE_RECORD));
    struct osc_str rest = OSC_STR(""), list = OSC_STR(""), text;
    int64_t index;

    for (uint32_t c = 1; c < t->others.n_chunks && word.v != 0; c++) {
        const struct osc_chunk *const k = t->others.chunks[c];
        struct osc_arg arg;

        for (uint32_t i = 0; i < k->n_rows; i++) {
            if (k->name[i] == word.v && osc_row_form(t, k, i)->shape == OSC_SHAPE_ABOUT &&
                t->tracks[k->track[i]].n_events > 0 &&
                osc_row_arg(t, k, i, OSC_ARG_KEY_DEVICE, &arg) && arg.type == OSC_ARG_STRING)
                t->tracks[k->track[i]].device = arg.sid;
        }
    }
    if (!osc_trace_meta(t, OSC_DEVICES_MEMBER, &rest))
        return;
    for (int i = 0; i < 3; i++) { /* behind the family and the places */
        if (!osc_json_next(&rest, &list))
            return;
    }
    for (uint32_t i = 0; i < t->n_devices && osc_json_next(&list, &text); i++) {
        if (osc_json_int(text, &index) && index >= 0 && index <= MAX_INDEX)
            t->devices[i].index = index;
    }
}

osc_status osc_merged_devices_number(struct osc_trace *t)
{
    struct queue *const q = osc_malloc(((size_t)t->n_tracks + 1) * sizeof *q);

    if (!q)
        return OSC_ENOMEM;
    const size_t n = collect(t, q);
    osc_status st = OSC_OK;

    osc_sort(q, n, sizeof *q, by_rank);
    move(q, n);
    osc_sort(q, n, sizeof *q, by_number);
    if (has_equal(q, n)) {
        st = move_listed(t, q, n);
        for (size_t i = 0; i < n && st == OSC_OK; i++)
            st = rename_queue(t, &q[i]);
    }
    take_told(t);
    osc_free(q);
    return st;
}
