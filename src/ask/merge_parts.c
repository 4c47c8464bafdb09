/* SPDX-License-Identifier: Apache-2.0 */
/* osc_merge() of opscope/trace.h. */
#include "ask/evaluate.h"
#include "ask/join.h"
#include "base/note.h"

/* Make the frame *F of the answer that the parts J give. */
static osc_status make_frame(const struct osc_joined *j, struct osc_frame **f,
                             struct osc_err *err)
{
    static const struct osc_how any_how;
    struct osc_frame_sink frame = {.frame = f};
    const struct osc_sink sink = osc_sink_frame(&frame);
    struct osc_request r = {.how = any_how};
    struct osc_asked k = {0}, *const asked = &k;
    struct osc_set *set = NULL;
    osc_status st = osc_joined_request(j, &r, err);

    if (st == OSC_OK)
        st = osc_asked_init(&k, &r, NULL, err);
    if (st == OSC_OK && !k.form->is_machine)
        st = osc_fail(err, OSC_EINVAL,
                      "these parts are for text: make them with a form for programs, such as "
                      "--format csv");
    const struct osc_load o = {.paths = j->paths,
                               .n_paths = j->n_paths,
                               .how = &any_how,
                               .view = &k.request.view,
                               .joined = j};
    if (st == OSC_OK)
        st = osc_set_load_to_ask(&set, &o, &asked, 1, err);
    if (st == OSC_OK)
        st = osc_evaluate_opened(set, &k, &sink, err);
    osc_asked_fini(&k);
    osc_set_release(set);
    return st;
}

osc_status osc_merge(const struct osc_part *parts, size_t n, struct osc_frame **f,
                     struct osc_err *err)
{
    struct osc_joined j = {0};
    struct osc_err own;
    osc_status st = OSC_OK;

    err = err ? err : &own;
    err->message[0] = '\0';
    *f = NULL;
    if (n == 0)
        st = osc_fail(err, OSC_EINVAL, "there are no parts to merge");
    for (size_t i = 0; i < n && st == OSC_OK; i++)
        st = osc_joined_add(&j, parts[i].name ? parts[i].name : "a part", parts[i].bytes,
                            parts[i].n_bytes, err);
    if (st == OSC_OK)
        st = osc_joined_end(&j, err);
    if (st == OSC_OK)
        st = make_frame(&j, f, err);
    osc_joined_fini(&j);
    if (st == OSC_EFORMAT)
        st = OSC_EINVAL; /* the bytes are arguments here */
    if (st != OSC_OK && err->message[0] == '\0')
        (void)osc_fail(err, st, "%s", osc_status_text(st));
    if (st != OSC_OK)
        osc_note_clean(err);
    return st;
}
