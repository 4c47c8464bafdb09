/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of threads: who queued a task, when it ran, and how many waited.
 *
 *     c++ -std=c++17 -O2 pool.cpp $(pkg-config --cflags --libs opscope) -pthread -o pool
 *     opscope run -- ./pool
 */
#include <opscope/scope.hpp>

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

class pool
{
  public:
    explicit pool(unsigned n_threads)
    {
        for (unsigned i = 0; i < n_threads; i++)
            threads_.emplace_back(&pool::run, this, i);
    }
    ~pool()
    {
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            is_over_ = true;
        }
        changed_.notify_all();
        for (std::thread &thread : threads_)
            thread.join();
    }
    pool(const pool &) = delete;
    pool &operator=(const pool &) = delete;

    void add(std::function<void()> work)
    {
        OPSCOPE_FUNCTION();
        task t;

        t.work = std::move(work);
        t.waiting = opscope::async("in queue");
        t.queued = opscope::arrow::from_here();
        const std::lock_guard<std::mutex> guard(mutex_);
        tasks_.push_back(std::move(t));
        OPSCOPE_COUNTER("waiting tasks", tasks_.size());
        changed_.notify_one();
    }

  private:
    struct task {
        std::function<void()> work;
        opscope::async waiting; /* from add() until a thread runs it */
        opscope::arrow queued;  /* to that scope */
    };

    /* The next task into T. False: there are no more. */
    bool next(task &t)
    {
        std::unique_lock<std::mutex> guard(mutex_);

        changed_.wait(guard, [this] { return is_over_ || !tasks_.empty(); });
        if (tasks_.empty())
            return false;
        t = std::move(tasks_.front());
        tasks_.pop_front();
        OPSCOPE_COUNTER("waiting tasks", tasks_.size());
        return true;
    }

    void run(unsigned number)
    {
        const std::string name = "worker " + std::to_string(number);

        opscope::thread_name(name.c_str());
        for (task t; next(t);) {
            OPSCOPE_SCOPE("task");
            t.queued.land();
            t.waiting.end();
            t.work();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<task> tasks_;
    std::vector<std::thread> threads_;
    bool is_over_ = false;
};

int main()
{
    std::vector<long> sums(100);

    {
        pool workers(3);

        for (std::size_t i = 0; i < sums.size(); i++)
            workers.add([i, &sums] {
                OPSCOPE_SCOPE("sum", "i", i);
                std::vector<long> numbers(10000 + 100 * i, 1);
                sums[i] = std::accumulate(numbers.begin(), numbers.end(), 0L);
            });
    }
    std::printf("%ld\n", std::accumulate(sums.begin(), sums.end(), 0L));
    return 0;
}
