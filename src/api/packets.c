/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be drawn of a window of time, in the bytes of timeline/packet.h.
 *
 *     cells    tracks=ID:LANES,...   ranges
 *     values   series=ID,...         values over time
 *     flows    tracks=ID,...         arrows between ranges on these tracks
 *
 * with from and to (ns from the origin), px (buckets, or pixels), exact, and n, which comes
 * back in the packet; and fp, the fingerprint of the timeline whose numbers are meant.
 */
#include "api/drawn.h"
#include "ask/cancel.h"
#include "base/mem.h"
#include "timeline/packet.h"

#define PIXELS_MAX (1 << 16)
#define LISTED_MAX 4096u

/* Numbers from a list like 1:2,3:4 or 1,2. */
struct listed {
    struct osc_packet_lanes *tracks; /* owned */
    uint32_t *series;                /* owned; or numbers of tracks */
    uint32_t n;
};

/* What is asked for. */
struct asking {
    const char *list; /* the pair of the query that names tracks or series */
    bool has_pairs;
    const char *message; /* that it is wrong */
    osc_status (*write)(const struct osc_timeline *tl, const struct osc_packet_request *r,
                        struct osc_strbuf *out);
};

/* Read a decimal number at *P that fits 32 bits. */
static bool read_number(const char **p, uint32_t *value)
{
    uint64_t v = 0;
    const char *const start = *p;

    for (; **p >= '0' && **p <= '9' && v <= UINT32_MAX; (*p)++)
        v = v * 10 + (uint64_t)(**p - '0');
    *value = (uint32_t)v;
    return *p > start && v <= UINT32_MAX;
}

/* Read TEXT, whose numbers come in pairs if ARE_PAIRS. */
static bool read_list(const char *text, bool are_pairs, struct listed *l)
{
    for (const char *p = text; *p; p += *p == ',') {
        uint32_t value = 0, lanes = 0;

        if (l->n == LISTED_MAX || !read_number(&p, &value))
            return false;
        if (are_pairs && (*p++ != ':' || !read_number(&p, &lanes)))
            return false;
        if (*p != ',' && *p != '\0')
            return false;
        l->tracks[l->n] = (struct osc_packet_lanes){value, lanes};
        l->series[l->n] = value;
        l->n++;
    }
    return true;
}

/* Read the query of C but its list. */
static bool read_window(struct osc_api_call *c, struct osc_packet_request *r)
{
    const int64_t most = OSC_TIME_MAX_NS;
    int64_t pixels, number = 0;

    if (!osc_api_whole(c, "from", -most, most, &r->from_ns) ||
        !osc_api_whole(c, "to", -most, most, &r->to_ns) ||
        !osc_api_whole(c, "px", 1, PIXELS_MAX, &pixels))
        return false;
    if (osc_url_get(&c->url, "n") && !osc_api_whole(c, "n", 0, UINT32_MAX, &number))
        return false;
    if (r->to_ns <= r->from_ns) {
        osc_api_refuse(c, "the window is empty: to must be after from");
        return false;
    }
    r->n_pixels = (uint32_t)pixels;
    r->number = (uint32_t)number;
    r->is_exact = osc_url_get(&c->url, "exact") != NULL;
    return true;
}

/* Write to OUT what A asks for by R. It ends early if the client of C leaves. */
static osc_status write_packet(const struct osc_api_call *c, const struct asking *a,
                               const struct osc_timeline *tl,
                               const struct osc_packet_request *r, struct osc_strbuf *out)
{
    struct osc_mem_account account = {.parent = NULL};
    struct osc_cancel_entry entry = {.account = &account};
    struct osc_mem_account *const before = osc_mem_enter(&account);

    osc_cancel_join(c->request->cancel, &entry);
    const osc_status st = osc_mem_reason(a->write(tl, r, out));
    osc_cancel_leave(c->request->cancel, &entry);
    (void)osc_mem_enter(before);
    osc_mem_account_end(&account);
    return st;
}

/* Answer what A asks for by R, which was read, about the timeline of the run of C. */
static void answer_packet(struct osc_api_call *c, const struct asking *a,
                          const struct osc_packet_request *r)
{
    struct osc_strbuf out = {0};
    struct osc_api_drawn d;

    if (!osc_api_draw(c, &d))
        return;
    const osc_status st = write_packet(c, a, d.drawing.timeline, r, &out);
    if (st == OSC_EINVAL) {
        osc_api_refuse(c, "there is no such track");
    } else if (st != OSC_OK) {
        osc_respond_failure(c, st, NULL, NULL);
    } else {
        osc_respond_begin(c, "application/octet-stream");
        (void)osc_respond_write(c, out.s, out.len);
    }
    osc_strbuf_fini(&out);
    osc_api_drawn_fini(&d);
}

static void answer_lists(struct osc_api_call *c, const struct asking *a)
{
    const char *const text = osc_url_get(&c->url, a->list);
    struct osc_packet_request r = {0};
    struct listed l = {.tracks = osc_calloc(LISTED_MAX, sizeof *l.tracks),
                       .series = osc_calloc(LISTED_MAX, sizeof *l.series)};

    if (!l.tracks || !l.series) {
        osc_respond_failure(c, OSC_ENOMEM, NULL, NULL);
    } else if (!text || !read_list(text, a->has_pairs, &l)) {
        osc_api_refuse(c, a->message);
    } else if (read_window(c, &r)) {
        r.tracks = l.tracks;
        r.series = l.series;
        r.n_tracks = r.n_series = l.n;
        answer_packet(c, a, &r);
    }
    osc_free(l.tracks);
    osc_free(l.series);
}

static void answer_cells(struct osc_api_call *c)
{
    static const struct asking cells = {"tracks", true, "tracks must be a list like 0:24,3:1",
                                        osc_packet_write};

    answer_lists(c, &cells);
}

static void answer_values(struct osc_api_call *c)
{
    static const struct asking values = {"series", false, "series must be a list like 0,3",
                                         osc_packet_write_series};

    answer_lists(c, &values);
}

static void answer_flows(struct osc_api_call *c)
{
    static const struct asking flows = {"tracks", false, "tracks must be a list like 0,3",
                                        osc_packet_write_flows};

    answer_lists(c, &flows);
}

const struct osc_api_endpoint osc_api_endpoint_cells = {"cells", false, answer_cells};
const struct osc_api_endpoint osc_api_endpoint_values = {"values", false, answer_values};
const struct osc_api_endpoint osc_api_endpoint_flows = {"flows", false, answer_flows};
