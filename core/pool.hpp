// Threads: `parallel_for` runs a loop over 0 … n − 1 in chunks on several threads.
//
//     parallel_for(n, threads, [&](std::size_t begin, std::size_t end, unsigned worker) { … });
//
// Chunks are handed out in order by one atomic counter, so a thread that is done early takes more of them. What the body
// writes must go to places that depend on begin … end only; `worker`, 0 … threads − 1, is for scratch memory that has
// no influence on results. Then the result is the same for any number of threads.
//
// The calling thread works too, as worker 0: with one thread none is started. Threads live for one call, since that
// costs some 20 µs each, survives a fork, and leaves nothing behind; so calls should be worth milliseconds.
//
// An exception in the body stops the loop after the chunks that have begun and is thrown again on the calling thread:
// always that of the lowest chunk that fails, as chunks begin in order. `poll` is called on the calling thread every
// 50 ms or after its chunk, whichever is later, and may throw to stop the loop (the bindings look for Ctrl-C there).
// How soon that is answered therefore depends on the longest chunk: choose chunks of a few milliseconds.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace roughly {

// Number of threads to use: 0 means one per processor of the machine.
inline unsigned thread_count(unsigned asked) {
    return asked > 0 ? asked : std::max(1u, std::thread::hardware_concurrency());
}

// A chunk for loops whose bodies differ in length: sixteen per thread.
inline std::size_t default_chunk(std::size_t n, unsigned threads) {
    return std::max<std::size_t>(1, n / (std::size_t{16} * threads));
}

namespace detail {

class Loop {
public:
    Loop(std::size_t n, std::size_t chunk) : n_(n), chunk_(chunk) {}

    // Takes chunks until none is left or the loop is stopped; calls `between`, which must not throw, after each.
    // A chunk that was taken is always run, so all chunks below one that failed have been.
    template <typename Body, typename Between>
    void work(Body& body, unsigned worker, Between&& between) noexcept {
        while (!stopped_.load(std::memory_order_relaxed)) {
            const std::size_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
            if (begin >= n_) return;
            try {
                body(begin, begin + std::min(chunk_, n_ - begin), worker);
            } catch (...) {
                fail(begin, std::current_exception());
            }
            between();
        }
    }

    // An exception from outside a chunk comes before all others.
    void interrupt(std::exception_ptr error) noexcept {
        stopped_ = true;
        const std::lock_guard guard(mutex_);
        if (!interrupted_) interrupted_ = std::move(error);
    }

    void fail(std::size_t begin, std::exception_ptr error) noexcept {
        stopped_ = true;
        const std::lock_guard guard(mutex_);
        if (!error_ || begin < failed_) {
            failed_ = begin;
            error_ = std::move(error);
        }
    }

    void rethrow() const {
        if (interrupted_) std::rethrow_exception(interrupted_);
        if (error_) std::rethrow_exception(error_);
    }

private:
    std::size_t n_, chunk_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::exception_ptr error_, interrupted_;
    std::size_t failed_ = 0;
};

}  // namespace detail

template <typename Body, typename Poll>
void parallel_for(std::size_t n, unsigned threads, std::size_t chunk, Body&& body, Poll&& poll) {
    if (n == 0) return;
    constexpr auto PATIENCE = std::chrono::milliseconds(50);
    chunk = std::clamp<std::size_t>(chunk, 1, n);
    const std::size_t chunks = n / chunk + (n % chunk != 0);
    threads = static_cast<unsigned>(std::min<std::size_t>(std::max(1u, threads), chunks));

    detail::Loop loop(n, chunk);
    std::mutex mutex;
    std::condition_variable done;
    unsigned running = 0;
    std::vector<std::thread> others;
    others.reserve(threads - 1);
    const auto finish = [&mutex, &done, &running] {
        const std::lock_guard guard(mutex);
        running--;
        done.notify_one();
    };
    for (unsigned worker = 1; worker < threads; worker++) {
        {
            const std::lock_guard guard(mutex);
            running++;
        }
        try {
            others.emplace_back([&loop, &body, &finish, worker]() noexcept {
                loop.work(body, worker, [] {});
                finish();
            });
        } catch (const std::system_error&) {
            finish();
            break;  // the system allows no more threads: fewer do the same work
        }
    }

    auto polled = std::chrono::steady_clock::now();
    const auto poll_in_time = [&] {
        const auto now = std::chrono::steady_clock::now();
        if (now - polled < PATIENCE) return;
        polled = now;
        try {
            poll();
        } catch (...) {
            loop.interrupt(std::current_exception());
        }
    };
    loop.work(body, 0, poll_in_time);
    if (!others.empty()) {
        std::unique_lock guard(mutex);
        while (!done.wait_for(guard, PATIENCE, [&running] { return running == 0; })) {
            guard.unlock();
            poll_in_time();
            guard.lock();
        }
        guard.unlock();
        for (auto& other : others) other.join();
    }
    loop.rethrow();
}

template <typename Body>
void parallel_for(std::size_t n, unsigned threads, Body&& body) {
    threads = thread_count(threads);
    parallel_for(n, threads, default_chunk(n, threads), std::forward<Body>(body), [] {});
}

}  // namespace roughly
