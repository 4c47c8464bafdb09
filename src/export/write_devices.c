/* SPDX-License-Identifier: Apache-2.0 */
#include "export/write_devices.h"

#include "base/strbuf.h"
#include "codec/json.h"
#include "model/add_member.h"
#include "model/merged_pids.h"

/* The number that the file gives the device of TRACK: that of its first event, or its pid. */
static bool number_in_file(const struct osc_trace *t, const struct osc_track *track,
                           int64_t *number)
{
    const struct osc_chunk *const c = osc_chunk_of(&t->events, track->first_event);
    const uint32_t i = osc_row_place(track->first_event);
    struct osc_arg arg;

    if (osc_row_arg(t, c, i, OSC_ARG_KEY_DEVICE, &arg))
        return osc_row_arg_int(t, c, i, OSC_ARG_KEY_DEVICE, number);
    return osc_json_int(osc_trace_str(t, track->pid), number);
}

bool osc_write_devices_is_moved(const struct osc_trace *t, const struct osc_track *track)
{
    struct osc_str family;
    int64_t in_file;
    const int64_t number = osc_device_split(osc_trace_str(t, track->device), &family);

    if (number < 0 || !number_in_file(t, track, &in_file))
        return false;
    /* Agents only have larger numbers than devices; --redact takes ranks out of pids. */
    return osc_merged_rank(osc_trace_str(t, track->pid)).len > 0 ? in_file != number
                                                                 : in_file < number;
}

/* Whether FAMILY has neither a quotation mark nor anything else that JSON escapes. */
static bool is_word(struct osc_str family)
{
    for (uint32_t i = 0; i < family.len; i++) {
        const char letter = (char)(family.s[i] | 32);

        if ((letter < 'a' || letter > 'z') && (family.s[i] < '0' || family.s[i] > '9'))
            return false;
    }
    return family.len > 0;
}

/* Say in TEXT what the first queue with work tells: its family, and how far numbers of the file
 * are above those of programs. False: there is no work. */
static bool say_at_work(const struct osc_trace *t, struct osc_strbuf *text)
{
    bool is_any = false;

    for (uint32_t i = 1; i < t->n_tracks && text->len == 0; i++) {
        struct osc_str family = OSC_STR("");
        int64_t in_file;
        const int64_t number = osc_device_split(osc_trace_str(t, t->tracks[i].device), &family);

        if (t->tracks[i].device.v == 0 || t->tracks[i].n_events == 0)
            continue;
        is_any = true;
        if (number >= 0 && is_word(family) && number_in_file(t, &t->tracks[i], &in_file) &&
            in_file >= number)
            osc_strbuf_addf(text, "[\"%.*s\",%lld", (int)family.len, family.s,
                            (long long)(in_file - number));
    }
    return is_any;
}

/* Say in TEXT the family of a device that did not work: FAMILY, without a number behind it. */
static void say_family(struct osc_str family, struct osc_strbuf *text)
{
    (void)osc_device_split(family, &family);
    if (text->len == 0 && is_word(family))
        osc_strbuf_addf(text, "[\"%.*s\",0", (int)family.len, family.s);
}

/* Say in TEXT the family of the first queue, though nothing worked there, or else that of the
 * first listed device: records of memory are called after it. */
static void say_idle(const struct osc_trace *t, struct osc_strbuf *text)
{
    for (uint32_t i = 1; i < t->n_tracks; i++)
        say_family(osc_trace_str(t, t->tracks[i].device), text);
    for (uint32_t i = 0; i < t->n_devices; i++)
        say_family(osc_trace_str(t, t->devices[i].family), text);
}

/* Whether devices have other numbers than their ranks gave them
 * (import/chrome/merged_devices.h): some queue of a rank has. */
static bool are_moved(const struct osc_trace *t)
{
    for (uint32_t i = 1; i < t->n_tracks; i++) {
        if (t->tracks[i].n_events > 0 && osc_write_devices_is_moved(t, &t->tracks[i]))
            return true;
    }
    return false;
}

/* Say in TEXT the numbers of the listed devices, which may be moved, too. */
static void say_listed(const struct osc_trace *t, struct osc_strbuf *text)
{
    for (uint32_t i = 0; i < t->n_devices; i++)
        osc_strbuf_addf(text, "%s%lld", i == 0 ? ",[" : ",", (long long)t->devices[i].index);
    if (t->n_devices > 0)
        osc_strbuf_addc(text, ']');
}

osc_status osc_write_devices(struct osc_trace *t)
{
    struct osc_strbuf text = {0};
    struct osc_str value;

    if (osc_trace_meta(t, OSC_DEVICES_MEMBER, &value))
        return OSC_OK;
    const bool has_moved = are_moved(t);
    if (!say_at_work(t, &text) || (text.len == 0 && has_moved))
        say_idle(t, &text);
    if (text.len > 0 && has_moved)
        say_listed(t, &text);
    if (text.len > 0)
        osc_strbuf_addc(&text, ']');
    osc_status st = text.status;
    if (st == OSC_OK && text.len > 0)
        st = osc_add_member(t, OSC_STR(OSC_DEVICES_MEMBER),
                            (struct osc_str){text.s, (uint32_t)text.len}, false);
    osc_strbuf_fini(&text);
    return st;
}
