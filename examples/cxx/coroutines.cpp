/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coroutines: a range for each from its first to its last line, whatever thread resumes it, and
 * a scope for each part that runs without a break.
 *
 *     c++ -std=c++20 -O2 coroutines.cpp $(pkg-config --cflags --libs opscope) -o coroutines
 *     opscope run -- ./coroutines
 *
 * A scope must end on the thread where it began, so none may be open across co_await:
 * opscope::async may.
 */
#include <opscope/scope.hpp>

#include <coroutine>
#include <cstdio>
#include <deque>
#include <exception>
#include <string>
#include <utility>

/* What waits to be resumed. */
static std::deque<std::coroutine_handle<>> ready;

/* Lets the others go on. */
struct yield {
    bool await_ready() const noexcept
    {
        return false;
    }
    void await_suspend(std::coroutine_handle<> self) const
    {
        ready.push_back(self);
    }
    void await_resume() const noexcept
    {
    }
};

/* A coroutine that starts at once and destroys itself at its end. */
struct job {
    struct promise_type {
        job get_return_object() const noexcept
        {
            return {};
        }
        std::suspend_never initial_suspend() const noexcept
        {
            return {};
        }
        std::suspend_never final_suspend() const noexcept
        {
            return {};
        }
        void return_void() const noexcept
        {
        }
        void unhandled_exception() const
        {
            std::terminate();
        }
    };
};

static job download(std::string name, int n_parts, int &n_bytes)
{
    const opscope::async whole("download " + name);

    for (int part = 0; part < n_parts; part++) {
        {
            OPSCOPE_SCOPE("part", "of", name, "number", part, "where",
                          opscope::location::current());
            n_bytes += 1000;
        }
        co_await yield();
    }
    OPSCOPE_INSTANT("downloaded", "name", name);
}

int main()
{
    int n_bytes = 0;

    for (const auto &[name, n_parts] : {std::pair("a", 3), {"b", 5}, {"c", 2}})
        download(name, n_parts, n_bytes);
    while (!ready.empty()) {
        const std::coroutine_handle<> next = ready.front();

        ready.pop_front();
        OPSCOPE_SCOPE("resume");
        next.resume();
    }
    std::printf("%d bytes\n", n_bytes);
    return 0;
}
