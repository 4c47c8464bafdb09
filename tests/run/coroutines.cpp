/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes across co_await, which range_ends.py looks at: (what), which is the name of one of the
 * functions below. A scope lasts at least a millisecond per step that is its own, so that times
 * tell which end it got.
 */
#include <chrono>
#include <coroutine>
#include <cstring>
#include <exception>
#include <thread>

#include <opscope/scope.hpp>

namespace
{

struct task {
    struct promise_type {
        task get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept
        {
            return {};
        }
        std::suspend_never final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            std::terminate();
        }
    };
    std::coroutine_handle<promise_type> handle;
};

void work(int ms)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

task first()
{
    OPSCOPE_SCOPE("first");
    co_await std::suspend_always{};
}

task second()
{
    OPSCOPE_SCOPE("second");
    co_await std::suspend_always{};
}

task inside()
{
    const opscope::async whole("whole");
    {
        OPSCOPE_SCOPE("before");
    }
    co_await std::suspend_always{};
    OPSCOPE_SCOPE("behind");
}

/* Two on one thread, which end in the order in which they began. */
void overlap()
{
    OPSCOPE_SCOPE("outer");
    const task a = first();
    work(10);
    const task b = second();
    work(10);
    a.handle.resume();
    work(30);
    b.handle.resume();
    OPSCOPE_SCOPE("after");
}

/* The same of one name. */
void alike()
{
    const task a = first();
    work(10);
    const task b = first();
    work(10);
    a.handle.resume();
    work(30);
    b.handle.resume();
}

/* One that ends on another thread, in scopes of that; this thread goes on. */
void moved()
{
    OPSCOPE_SCOPE("outer");
    const task a = first();
    work(10);
    std::thread other([&] {
        OPSCOPE_SCOPE("worker");
        work(10);
        a.handle.resume();
        OPSCOPE_SCOPE("resumed");
        work(10);
    });
    other.join();
    OPSCOPE_SCOPE("after");
}

/* Both, often. */
void often()
{
    for (int i = 0; i < 50; i++) {
        OPSCOPE_SCOPE("outer");
        const task a = first(), b = first(), c = first();

        b.handle.resume();
        std::thread other([&] { a.handle.resume(); });
        other.join();
        {
            OPSCOPE_SCOPE("after", "round", i);
        }
        c.handle.resume();
    }
}

/* What is as it should be. */
void nested()
{
    OPSCOPE_FUNCTION();
    const task a = inside();
    opscope::scope plain("plain");
    a.handle.resume();
}

} // namespace

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
    } all[] = {{"overlap", overlap},
               {"alike", alike},
               {"moved", moved},
               {"often", often},
               {"nested", nested}};

    for (const auto &one : all)
        if (argc == 2 && std::strcmp(argv[1], one.name) == 0)
            one.run();
    return 0;
}
