/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of opscope/stub.h that opscope.rs calls: those are inline or hidden. */
#include <opscope/stub.h>

uint32_t rust_osc_name(const char *s, size_t len);
void rust_osc_begin(int kind, uint32_t name);
void rust_osc_end(void);
void rust_osc_arg_i64(uint32_t key, int64_t value);
int rust_osc_is_on(void);

uint32_t rust_osc_name(const char *s, size_t len)
{
    return osc_name_of(s, len);
}

void rust_osc_begin(int kind, uint32_t name)
{
    osc_begin((enum osc_scope_kind)kind, name);
}

void rust_osc_end(void)
{
    osc_end();
}

void rust_osc_arg_i64(uint32_t key, int64_t value)
{
    osc_arg_i64(key, value);
}

int rust_osc_is_on(void)
{
    return osc_is_on();
}
