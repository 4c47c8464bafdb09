/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that links no library of ours, for tests/run/stub.py; also as C++.
 *
 *     stub             record two scopes if something records
 *     stub start FILE  ask for a recording
 *     stub load FILE   load the library FILE
 */
#include <opscope/stub.h>
#ifdef __cplusplus
#include <opscope/scope.hpp>
#endif

#include <stdio.h>

#include "stub_other.h"

#ifdef __cplusplus
/* Made by a constructor, before main(). */
static const opscope::name early{"early"};

static void in_cxx(void)
{
    const opscope::scope s(early);
    OPSCOPE_SCOPE("macro", "x", 5);
}
#endif

#ifdef __cplusplus
extern "C"
#endif
    void
    in_other_file(void);

static void work(void)
{
    static osc_name name;
    const struct osc_device_info info = {"npu", 0, "a device",
                                         0,     0, {0, 0, 0, 0, 0, 0, 0, 0, 0}};

    osc_name_once(&name, "in main");
    osc_begin(OSC_SCOPE_OPERATOR, name);
    osc_arg_i64(osc_name_c("number"), 7);
    in_other_file();
    osc_end();
    osc_counter_f64(osc_name_c("level"), 0.5);
    (void)osc_queue_add(osc_device_add(&info), "queue");
#ifdef __cplusplus
    in_cxx();
#endif
}

int main(int argc, char **argv)
{
    osc_status st = OSC_OK;

    if (argc > 2 && strcmp(argv[1], "start") == 0) {
        struct osc_start_options options;

        memset(&options, 0, sizeof options);
        options.size = sizeof options;
        options.out = argv[2];
        st = osc_start(&options);
    } else if (argc > 2) {
        st = osc_stub_load(argv[2]);
    }
    printf("%d %d %d %s\n", (int)st, osc_is_on(), osc_version(), osc_start_reason());
    work();
    st = osc_stop();
    return (int)st;
}
