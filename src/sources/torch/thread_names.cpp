// SPDX-License-Identifier: Apache-2.0
#include "thread_names.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <mutex>
#include <unordered_map>

#include "python.h"
#include "recorder.h"

namespace osc_torch
{
namespace
{

constexpr size_t kNames = size_t{1} << 16;

std::mutex names_lock;
std::unordered_map<pid_t, std::string> names;

// Removes the name of a thread when it ends, because its number may be used again.
struct Leaving {
    bool is_set = false;
    ~Leaving()
    {
        if (!is_set)
            return;
        const std::lock_guard<std::mutex> guard(names_lock);
        names.erase(gettid());
    }
};
thread_local Leaving leaving;

void before_fork()
{
    names_lock.lock();
}

void after_fork()
{
    names_lock.unlock();
}

// The thread with the system's number THREAD has the name NAME from now on.
void set_name(pid_t thread, const char *name)
{
    static const int is_watched = pthread_atfork(before_fork, after_fork, after_fork);

    (void)is_watched;
    {
        const std::lock_guard<std::mutex> guard(names_lock);
        if (names.size() >= kNames && names.find(thread) == names.end())
            return;
        names[thread] = name;
    }
    if (thread == gettid())
        leaving.is_set = true;
    thread_renamed(thread);
}

} // namespace

std::string thread_name()
{
    char name[17] = "";

    {
        const std::lock_guard<std::mutex> guard(names_lock);
        const auto known = names.find(gettid());
        if (known != names.end())
            return known->second;
    }
    return prctl(PR_GET_NAME, name) == 0 ? name : "";
}

} // namespace osc_torch

extern "C" {

void osc_torch_thread_begins(int number, const char *name)
{
    osc_torch::set_name(number, name);
    osc_torch::python_begin_here();
}

void osc_torch_thread_renamed(int number, const char *name)
{
    osc_torch::set_name(number, name);
}
}
