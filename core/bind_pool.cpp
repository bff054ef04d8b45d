// A loop for the tests of the thread pool: what each index was given, and by which worker.

#include <nanobind/stl/pair.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "bind.hpp"
#include "words.hpp"

namespace roughly {

void bind_pool(nb::module_& m) {
    // Squares 0 … n − 1. Every chunk takes `milliseconds` more; those that reach beyond `fail_from` fail.
    m.def("pool_squares", [](u64 n, unsigned threads, u64 chunk, u64 fail_from, u64 milliseconds) {
        Buffer<u64> squares(n);
        Buffer<u32> workers(n);
        without_gil([&] {
            parallel_for_with_signals(n, threads, chunk, [&](std::size_t begin, std::size_t end, unsigned worker) {
                if (milliseconds > 0) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
                if (end > fail_from) throw std::runtime_error("failed at " + std::to_string(std::max(begin, fail_from)));
                for (std::size_t i = begin; i < end; i++) {
                    squares[i] = i * i;
                    workers[i] = worker;
                }
            });
        });
        return std::pair(to_numpy(std::move(squares)), to_numpy(std::move(workers)));
    });
}

}  // namespace roughly
