// Deliberate mistakes, built with the sanitizers only: the tests see that each is reported and ends the process.

#include <chrono>
#include <limits>
#include <thread>

#include "bind.hpp"
#include "words.hpp"

namespace roughly {

void bind_faults(nb::module_& m) {
    // The array must be a Buffer of the core: memory of numpy is known to the sanitizer as well.
    m.def("_fault_read_past_end", [](In<u64> values) { return values.data()[values.size()]; });
    m.def("_fault_overflow", [](i64 value) { return value + std::numeric_limits<i64>::max(); });
    // Every thread adds to one number; the pause lets all of them begin.
    m.def("_fault_race", [] {
        u64 sum = 0;
        without_gil([&] {
            const auto add = [&](std::size_t begin, std::size_t, unsigned) {
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
                sum += begin;
            };
            parallel_for(16, 4, 1, add, [] {});
        });
        return sum;
    });
}

}  // namespace roughly
