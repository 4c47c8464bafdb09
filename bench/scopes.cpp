/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scopes.cpp - measure the macros of scope.hpp beside the calls of record.h that do the same;
 * a category beside a scope without one; a sampled scope, and another one meanwhile, beside one
 * that is recorded each time.
 *
 *   scopes DIR [N]
 *
 * Figures are nanoseconds of the thread's clock, sampled alternately.
 */
#include <opscope/scope.hpp>

#include <string>

#include "bench.h"

namespace
{

constexpr std::uint32_t n_calls = 200000;

[[gnu::noinline]] void in_c(std::uint32_t)
{
    static osc_name name;

    osc_name_once(&name, "scope");
    osc_begin(OSC_SCOPE_PLAIN, name);
    osc_end();
}

[[gnu::noinline]] void in_cxx(std::uint32_t)
{
    OPSCOPE_SCOPE("scope");
}

[[gnu::noinline]] void args_in_c(std::uint32_t i)
{
    static osc_name name, key;

    osc_name_once(&name, "scope");
    osc_name_once(&key, "i");
    osc_begin(OSC_SCOPE_PLAIN, name);
    if (osc_is_on())
        osc_arg_i64(key, i);
    osc_end();
}

[[gnu::noinline]] void args_in_cxx(std::uint32_t i)
{
    OPSCOPE_SCOPE("scope", "i", i);
}

[[gnu::noinline]] void in_category(std::uint32_t)
{
    OPSCOPE_SCOPE_IN("bench", 1, "scope");
}

[[gnu::noinline]] void in_category_off(std::uint32_t)
{
    OPSCOPE_SCOPE_IN("bench", 2, "scope");
}

[[gnu::noinline]] void hot(std::uint32_t)
{
    OPSCOPE_SCOPE("hot");
}

/* Nanoseconds that a call of F takes. */
template <class F> double cost(F f)
{
    const double before = bench_cpu_s();

    for (std::uint32_t i = 0; i < n_calls; i++)
        f(i);
    return (bench_cpu_s() - before) * 1e9 / n_calls;
}

template <class F, class G> void compare(const std::string &name, F cxx, G c, int n)
{
    for (int i = 0; i < n; i++) {
        bench_sample(name.c_str(), cost(cxx));
        bench_sample((name + "/limit").c_str(), cost(c));
    }
}

} // namespace

int main(int argc, char **argv)
{
    const int n = bench_rounds(argc, argv, 2, 15);
    const std::string out = std::string(argc > 1 ? argv[1] : ".") + "/scopes.osc";
    struct osc_start_options options = {};

    bench_pin(1);
    compare("off", in_cxx, in_c, n);
    options.size = sizeof options;
    options.out = out.c_str();
    if (osc_start(&options) != OSC_OK)
        return 1;
    compare("scope", in_cxx, in_c, n);
    compare("argument", args_in_cxx, args_in_c, n);
    compare("category", in_category, in_c, n);
    compare("category-off", in_category_off, in_c, n);
    for (int i = 0; i < n; i++) {
        bench_sample("sampled/limit", cost(hot));
        if (osc_sample("hot=100") != OSC_OK)
            return 1;
        bench_sample("sampled", cost(hot));
        bench_sample("meanwhile", cost(in_c));
        if (osc_sample("*=1") != OSC_OK)
            return 1;
    }
    return osc_stop() == OSC_OK ? 0 : 1;
}
