// Shingle sets of many documents (shingles.hpp) on several threads, from tokens in memory or in a file.
//
// A set is never larger than its document has tokens. So each chunk of documents writes its sets one after the other to
// where its tokens would be, and the chunks are joined at the end: the result depends on the documents only, not on
// chunks or threads.
//
// Joining moves every chunk to the left, by as much as all chunks before it have left free. Chunks whose destinations
// all lie before the first of them can be moved side by side, and there are more of them the further they move.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "buffer.hpp"
#include "gather_file.hpp"
#include "shingles.hpp"
#include "words.hpp"

namespace roughly {

inline constexpr i64 LITTLE_TO_MOVE = 1 << 18;  // values: below that threads do not pay

// What a thread needs to make a set; grows with the longest document of the thread.
struct ShingleScratch {
    Buffer<u64> values, sorted;
    Buffer<u32> counts;

    void make_room(std::size_t tokens) {
        if (counts.size() == 0) counts.resize(SORT_COUNTS);
        if (values.size() >= tokens) return;
        values = Buffer<u64>(tokens);
        sorted = Buffer<u64>(tokens);
    }
};

// The distinct shingles of each document, sorted. offsets[d] counts tokens; `fetch(begin, end, room)` gives where the
// tokens of documents begin … end − 1 are: token t at fetch(…)[t]. It may put them into `room`, at the same positions.
// `loop(n, chunk, body)` runs a body over 0 … n − 1 on `threads` threads.
template <typename Fetch, typename Loop>
ShingleSets shingle_batches(std::span<const i64> offsets, u64 size, unsigned threads, Fetch&& fetch, Loop&& loop) {
    const std::size_t n = offsets.size() - 1;
    const std::size_t chunk = documents_per_chunk(offsets, VALUES_PER_CHUNK);
    const i64 base = offsets[0];
    ShingleSets sets{Buffer<u64>(static_cast<std::size_t>(offsets[n] - base)), Buffer<i64>(n + 1)};
    u64* out = sets.values.data();
    i64* counts = sets.offsets.data() + 1;
    std::vector<ShingleScratch> scratch(threads);
    loop(n, chunk, [&](std::size_t begin, std::size_t end, unsigned worker) {
        ShingleScratch& own = scratch[worker];
        const u64* tokens = fetch(begin, end, out - base);
        auto at = static_cast<u64>(offsets[begin] - base);
        for (std::size_t d = begin; d < end; ++d) {
            const auto length = static_cast<std::size_t>(offsets[d + 1] - offsets[d]);
            own.make_room(length);
            const u64 count = shingles({tokens + offsets[d], length}, size, own.values.data());
            sort_hashes({own.values.data(), count}, own.sorted.data(), own.counts.data());
            const u64 before = at;
            at = put_distinct({own.sorted.data(), count}, out, at);
            counts[d] = static_cast<i64>(at - before);
        }
    });
    sets.offsets[0] = 0;
    for (std::size_t d = 0; d < n; ++d) sets.offsets[d + 1] += sets.offsets[d];
    const auto from = [&](std::size_t d) { return offsets[d] - base; };
    const auto move = [&](std::size_t begin) {
        const i64 to = sets.offsets[begin], stop = sets.offsets[std::min(n, begin + chunk)];
        std::memmove(out + to, out + from(begin), 8 * static_cast<std::size_t>(stop - to));
    };
    for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
        end = std::min(n, begin + chunk);
        while (end < n && sets.offsets[std::min(n, end + chunk)] <= from(begin)) end = std::min(n, end + chunk);
        if (sets.offsets[end] - sets.offsets[begin] < LITTLE_TO_MOVE) {
            for (std::size_t d = begin; d < end; d += chunk) move(d);
        } else {
            loop((end - begin + chunk - 1) / chunk, 1, [&](std::size_t first, std::size_t last, unsigned) {
                for (std::size_t k = first; k < last; ++k) move(begin + k * chunk);
            });
        }
    }
    sets.values.resize(static_cast<std::size_t>(sets.offsets[n]));
    return sets;
}

}  // namespace roughly
