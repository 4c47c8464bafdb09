/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/nvtx/nvtx.h"

#define WIDE_MAX 1024 /* characters that are looked at */

/* Write the character C, unless it is none, as UTF-8 to OUT; returns how many bytes. */
static size_t put_utf8(char *out, uint32_t c)
{
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

struct osc_text *osc_nvtx_text_wide(const wchar_t *wide)
{
    char text[WIDE_MAX * 4];
    size_t len = 0;

    for (size_t i = 0; wide && wide[i] != L'\0' && i < WIDE_MAX; i++)
        len += put_utf8(text + len, (uint32_t)wide[i]);
    return osc_text_find(text, len);
}

struct osc_text *osc_nvtx_text(int32_t type, union osc_nvtx_message message)
{
    switch (type) {
    case OSC_NVTX_MESSAGE_ASCII:
        return osc_text_find_c(message.ascii);
    case OSC_NVTX_MESSAGE_WIDE:
        return osc_nvtx_text_wide(message.wide);
    case OSC_NVTX_MESSAGE_REGISTERED:
        return message.registered ? message.registered : osc_text_find_c("");
    default:
        return osc_text_find_c("");
    }
}
