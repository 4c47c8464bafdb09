/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of kernels, one per line, behind a byte with the width: labels fit, and different names
 * have different ones. The last name comes after the composition.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "names/labels.h"

#define NAMES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stop unless the labels of the N names at IDS fit WIDTH, and differ if the names do. */
static void check(const struct osc_labels *l, const osc_sid *ids, size_t n, size_t width)
{
    for (size_t i = 0; i < n; i++) {
        const struct osc_str label = osc_labels_get(l, ids[i]);

        /* A number needs its room. */
        if (osc_utf8_columns(label) > width && width >= 4)
            abort();
        if (!osc_utf8_valid(label.s, label.len))
            abort();
        for (size_t k = 0; k < i; k++) {
            if (ids[i].v != ids[k].v && osc_str_eq(label, osc_labels_get(l, ids[k])))
                abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct osc_labels l = {0};
    osc_sid ids[NAMES_MAX];
    size_t n = 0;

    if (size == 0)
        return 0;
    const size_t width = data[0] % 128;
    struct osc_str rest = {(const char *)data + 1, (uint32_t)size - 1};
    while (rest.len > 0 && n < NAMES_MAX) {
        const char *const end = memchr(rest.s, '\n', rest.len);
        const uint32_t len = end ? (uint32_t)(end - rest.s) : rest.len;
        const struct osc_str name = {rest.s, len};
        const bool is_last = len + 1 >= rest.len;

        if (is_last && osc_labels_compose(&l, width, width) != OSC_OK)
            break;
        if (is_last)
            check(&l, ids, n, width);
        if ((is_last ? osc_labels_add_late(&l, name, true, &ids[n])
                     : osc_labels_add(&l, name, true, &ids[n])) != OSC_OK)
            break;
        n++;
        if (is_last) {
            check(&l, ids, n, width);
            break;
        }
        rest = (struct osc_str){rest.s + len + 1, rest.len - len - 1};
    }
    osc_labels_fini(&l);
    return 0;
}
