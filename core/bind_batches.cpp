// Bindings of kernels that read or process many documents on several threads in one call.

#include <cstring>
#include <numeric>
#include <vector>

#include "align.hpp"
#include "bind_files.hpp"
#include "bind_rows.hpp"
#include "gather_file.hpp"
#include "line_copy.hpp"
#include "shingle_batches.hpp"

namespace roughly {

namespace {

auto loop_on(unsigned threads) {
    return [threads](std::size_t n, std::size_t chunk, auto&& body) {
        parallel_for_with_signals(n, threads, chunk, body);
    };
}

// The counts of the alignments of documents 2p and 2p + 1. A document on the left of several consecutive pairs is read
// once.
Buffer<i64> outlines_of_pairs(const FileRanges& ranges, std::span<const i64> starts, std::span<const i64> lengths,
                              unsigned threads) {
    struct Scratch {
        alignment::Aligner aligner;
        Buffer<u64> left, right;
    };
    const std::span<const i64> offsets = ranges.offsets();
    const std::size_t pairs = ranges.size() / 2;
    const auto read = [&](std::size_t range, Buffer<u64>& room) {
        const auto length = static_cast<std::size_t>(offsets[range + 1] - offsets[range]);
        if (room.size() < length) room = Buffer<u64>(length);
        ranges.read_one(range, room.data());
        return std::span<const u64>(room.data(), length);
    };
    Buffer<i64> rows(5 * pairs);
    std::vector<Scratch> scratch(thread_count(threads));
    const std::size_t chunk = std::max<std::size_t>(1, documents_per_chunk(offsets, VALUES_PER_CHUNK) / 2);
    loop_on(threads)(pairs, chunk, [&](std::size_t begin, std::size_t end, unsigned worker) {
        Scratch& own = scratch[worker];
        std::span<const u64> left;
        for (std::size_t p = begin; p < end; ++p) {
            const bool is_same = p > begin && starts[2 * p] == starts[2 * p - 2] && lengths[2 * p] == lengths[2 * p - 2];
            if (!is_same) left = read(2 * p, own.left);
            const auto outline = own.aligner.outline(left, read(2 * p + 1, own.right));
            std::memcpy(rows.data() + 5 * p, &outline, sizeof(outline));
        }
    });
    return rows;
}

auto as_tuple(ShingleSets&& sets) {
    return std::tuple(to_numpy(std::move(sets.values)), to_numpy(std::move(sets.offsets)));
}

}  // namespace

void bind_batches(nb::module_& m) {
    m.def("gather_tokens", [](In<i32> files, In<i64> starts, In<i64> lengths, In<i64> docs, unsigned threads) {
        auto [hashes, offsets] = with_files([&] {
            FileRanges ranges(span(files), span(starts), span(lengths), span(docs));
            Buffer<u64> gathered = gather_file(ranges, loop_on(threads));
            return std::pair(std::move(gathered), ranges.take_offsets());
        });
        return std::tuple(to_numpy(std::move(hashes)), to_numpy(std::move(offsets)));
    });
    m.def("gather_shingle_sets", [](In<i32> files, In<i64> starts, In<i64> lengths, In<i64> docs, u64 size,
                                    unsigned threads) {
        return as_tuple(with_files([&] {
            const FileRanges ranges(span(files), span(starts), span(lengths), span(docs));
            const auto fetch = [&](std::size_t begin, std::size_t end, u64* room) {
                ranges.read(begin, end, room);
                return static_cast<const u64*>(room);
            };
            return shingle_batches(ranges.offsets(), size, thread_count(threads), fetch, loop_on(threads));
        }));
    });
    m.def("gather_outlines", [](In<i32> files, In<i64> starts, In<i64> lengths, unsigned threads) {
        return to_numpy(with_files([&] {
            require(starts.size() % 2 == 0 && starts.size() == lengths.size(), "every pair needs two ranges");
            Buffer<i64> docs(starts.size());
            std::iota(docs.begin(), docs.end(), i64{0});
            const FileRanges ranges(span(files), span(starts), span(lengths), docs.span());
            return outlines_of_pairs(ranges, span(starts), span(lengths), threads);
        }), 5);
    });
    m.def("copy_lines", [](int from, int to, In2<i64> blocks, In<bool> keep, i64 at, unsigned threads) {
        static_assert(sizeof(LineBlock) == 4 * sizeof(i64));
        const std::span<const i64> numbers = span(blocks);
        require(blocks.shape(1) == 4 && std::ranges::all_of(numbers, [](i64 n) { return n >= 0; }),
                "a block is its first line, its lines, where it begins and its bytes");
        const std::span rows(reinterpret_cast<const LineBlock*>(numbers.data()), blocks.shape(0));
        return with_files([&] {
            try {
                return copy_lines(from, to, rows, span(keep), at, thread_count(threads), loop_on(threads));
            } catch (const FileChanged&) {
                return i64{-1};
            }
        });
    });
    m.def("parallel_shingle_sets", [](In<u64> tokens, In<i64> offsets, u64 size, unsigned threads) {
        return as_tuple(without_gil([&] {
            const auto fetch = [&](std::size_t, std::size_t, u64*) { return tokens.data(); };
            return shingle_batches(span(offsets), size, thread_count(threads), fetch, loop_on(threads));
        }));
    });
}

}  // namespace roughly
