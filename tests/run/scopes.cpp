/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that scope.hpp has, for tests/run/cxx.py.
 *
 *     scopes OUT      record to OUT, and print what was evaluated
 */
#include <opscope/scope.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{

enum class color : unsigned char { red = 7 };

int n_evaluated;

int evaluate(int x)
{
    n_evaluated++;
    return x;
}

template <class T> struct box {
    T value;

    T get(const std::vector<T> &more) const
    {
        OPSCOPE_FUNCTION("n", more.size());
        return value;
    }
    T operator()(int) const
    {
        OPSCOPE_FUNCTION();
        return value;
    }
    explicit operator bool() const
    {
        OPSCOPE_FUNCTION();
        return true;
    }
};

const char *const *pointers(int (*)(int))
{
    OPSCOPE_FUNCTION();
    return nullptr;
}

void values()
{
    const std::string text = "a \"text\"";
    const std::array<short, 3> shorts = {-1, 0, 1};
    const std::vector<std::int64_t> longs = {1, INT64_MAX};
    const char *const none = nullptr;

    OPSCOPE_SCOPE("values", "bool", true, "int", -5, "unsigned", UINT32_MAX, "huge", UINT64_MAX,
                  "float", 0.5F, "double", 1e300, "enum", color::red, "text", text, "literal",
                  "x", "view", std::string_view("yz"), "null", none, "time",
                  std::chrono::milliseconds(3), "shorts", shorts, "longs", longs, "where",
                  opscope::location{"file.cpp", 42, ""});
}

void throwing()
{
    OPSCOPE_SCOPE("throwing", "x",
                  (n_evaluated < 0 ? 0 : throw std::runtime_error("from a value"), 0));
}

void nesting()
{
    OPSCOPE_SCOPE_OF(OSC_SCOPE_OPERATOR, "outer");
    {
        OPSCOPE_SCOPE_IN("tests", 1, "first");
        OPSCOPE_SCOPE_IN("tests", 2, "detail", "x", evaluate(1));
        OPSCOPE_SCOPE("second", "x", evaluate(1)); /* on one line */
        OPSCOPE_ARG("late", evaluate(2), "later", 3);
    }
    try {
        throwing();
    } catch (const std::runtime_error &) {
        OPSCOPE_INSTANT("caught", "x", evaluate(3));
    }
    OPSCOPE_COUNTER("level", 2.5);
    OPSCOPE_COUNTER("count", evaluate(4));
}

void dynamic()
{
    static const opscope::name known("known");
    std::string made = "made";

    opscope::scope s(made += " up", OSC_SCOPE_ANNOTATION);
    const opscope::scope t(known);
    s.arg(made, evaluate(5));
}

void moving()
{
    opscope::scope here("sender");
    opscope::arrow arrow = opscope::arrow::from_here();
    opscope::async request("request", OSC_SCOPE_COMMUNICATION), other;

    other = std::move(request);
    std::thread([held = std::move(other), landing = std::move(arrow)]() mutable {
        opscope::thread_name("receiver");
        const opscope::scope there("receiver");

        landing.land();
        landing.land();
        held.end();
        held.end();
    }).join();
    opscope::async replaced("first range");
    replaced = opscope::async("second range");
}

} // namespace

namespace outer::inner
{
void functions()
{
    const box<int> b = {1};

    (void)b.get({1, 2, 3});
    (void)b(1);
    (void)static_cast<bool>(b);
    (void)pointers(nullptr);
    [] { OPSCOPE_FUNCTION(); }();
    OPSCOPE_FUNCTION();
}
} // namespace outer::inner

int main(int argc, char **argv)
{
    nesting();
    std::printf("evaluated %d\n", n_evaluated);
#ifndef OPSCOPE_DISABLE
    struct osc_start_options options = {};

    options.size = sizeof options;
    options.out = argc > 1 ? argv[1] : nullptr;
    if (osc_start(&options) != OSC_OK)
        return 1;
#else
    (void)argc;
    (void)argv;
#endif
    for (int i = 0; i < 2; i++) {
        opscope::step();
        nesting();
        values();
        dynamic();
    }
    moving();
    outer::inner::functions();
    std::printf("evaluated %d\n", n_evaluated);
    return 0;
}
