// Bindings of what many documents are read and made into on several threads in one call.

#include <cerrno>
#include <system_error>

#include "bind_rows.hpp"
#include "gather_file.hpp"
#include "shingle_batches.hpp"

namespace roughly {

namespace {

// Runs f() without the GIL; what the system refused becomes an OSError.
template <typename F>
auto with_files(F&& f) {
    try {
        return without_gil(f);
    } catch (const std::system_error& error) {
        errno = error.code().value();
        PyErr_SetFromErrno(PyExc_OSError);
    } catch (const FileTooShort& error) {
        PyErr_SetString(PyExc_OSError, error.what());
    }
    throw nb::python_error();
}

auto loop_on(unsigned threads) {
    return [threads](std::size_t n, std::size_t chunk, auto&& body) {
        parallel_for_with_signals(n, threads, chunk, body);
    };
}

auto as_tuple(ShingleSets&& sets) {
    return std::tuple(to_numpy(std::move(sets.values)), to_numpy(std::move(sets.offsets)));
}

}  // namespace

void bind_batches(nb::module_& m) {
    m.def("gather_tokens", [](int file, In<i64> starts, In<i64> lengths, In<i64> docs, unsigned threads) {
        auto [hashes, offsets] = with_files([&] {
            FileRanges ranges(file, span(starts), span(lengths), span(docs));
            Buffer<u64> gathered = gather_file(ranges, loop_on(threads));
            return std::pair(std::move(gathered), ranges.take_offsets());
        });
        return std::tuple(to_numpy(std::move(hashes)), to_numpy(std::move(offsets)));
    });
    m.def("gather_shingle_sets", [](int file, In<i64> starts, In<i64> lengths, In<i64> docs, u64 size,
                                    unsigned threads) {
        return as_tuple(with_files([&] {
            const FileRanges ranges(file, span(starts), span(lengths), span(docs));
            const auto fetch = [&](std::size_t begin, std::size_t end, u64* room) {
                ranges.read(begin, end, room);
                return static_cast<const u64*>(room);
            };
            return shingle_batches(ranges.offsets(), size, thread_count(threads), fetch, loop_on(threads));
        }));
    });
    m.def("parallel_shingle_sets", [](In<u64> tokens, In<i64> offsets, u64 size, unsigned threads) {
        return as_tuple(without_gil([&] {
            const auto fetch = [&](std::size_t, std::size_t, u64*) { return tokens.data(); };
            return shingle_batches(span(offsets), size, thread_count(threads), fetch, loop_on(threads));
        }));
    });
}

}  // namespace roughly
