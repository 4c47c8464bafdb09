/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/itt/itt_thread.h"

_Thread_local struct osc_itt_last osc_itt_last
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

static _Atomic(struct osc_text *) keys[OSC_ITT_N_KEYS];

osc_name osc_itt_key(enum osc_itt_key key)
{
    static const char *const texts[] = {
#define KEY_TEXT(name, text) text,
        OSC_ITT_KEY_LIST(KEY_TEXT)
#undef KEY_TEXT
    };
    /* Acquire pairs with the release below. */
    struct osc_text *text = atomic_load_explicit(&keys[key], memory_order_acquire);

    if (__builtin_expect(!text, 0)) {
        text = osc_text_find_c(texts[key]);
        atomic_store_explicit(&keys[key], text, memory_order_release);
    }
    return osc_text_name(text);
}

uint64_t osc_itt_id_key(const struct osc_itt_domain_entry *d, const struct osc_itt_id *id)
{
    uint64_t x = d->text->hash;
    const uint64_t parts[] = {id->d1, id->d2, id->d3};

    for (size_t i = 0; i < 3; i++) {
        x = (x ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
        x ^= x >> 29;
    }
    return x;
}

size_t osc_itt_decimal(char *out, uint64_t x)
{
    size_t n = 1;

    for (uint64_t rest = x / 10; rest > 0; rest /= 10)
        n++;
    for (size_t i = n; i-- > 0; x /= 10)
        out[i] = (char)('0' + x % 10);
    return n;
}

size_t osc_itt_hex(char *out, uint64_t x)
{
    size_t n = 3;

    for (uint64_t rest = x / 16; rest > 0; rest /= 16)
        n++;
    out[0] = '0';
    out[1] = 'x';
    for (size_t i = n; i-- > 2; x /= 16)
        out[i] = "0123456789abcdef"[x % 16];
    return n;
}

void osc_itt_arg_id(enum osc_itt_key key, const struct osc_itt_id *id)
{
    char text[3 * 18 + 2];
    size_t n = osc_itt_hex(text, id->d1);

    if (id->d2 | id->d3) {
        text[n++] = ':';
        n += osc_itt_hex(text + n, id->d2);
    }
    if (id->d3) {
        text[n++] = ':';
        n += osc_itt_hex(text + n, id->d3);
    }
    osc_arg_text(osc_itt_key(key), text, n);
}
