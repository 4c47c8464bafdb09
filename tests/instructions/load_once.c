/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_once.c - load one trace on one thread, for gate.py to count its instructions.
 *
 *   load_once FILE KERNEL
 */
#include <stdio.h>

#include "import/import.h"

int main(int argc, char **argv)
{
    struct osc_trace t = {0};
    struct osc_err err = {0};

    if (argc != 3) {
        fputs("usage: load_once FILE KERNEL\n", stderr);
        return 2;
    }
    const struct osc_import_options o = {.n_threads = 1, .kernel = argv[2]};
    if (osc_import_path(&t, argv[1], &o, &err) != OSC_OK) {
        fprintf(stderr, "load_once: %s\n", err.message);
        return 1;
    }
    osc_trace_fini(&t);
    return 0;
}
