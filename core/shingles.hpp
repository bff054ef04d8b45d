// Sets of w-shingles: the distinct hashes of all runs of w tokens, sorted, document by document.
//
// The hash of a shingle t₁ … t_w rolls from one shingle to the next without a product, and is then spread:
//
//     p = rotl(t₁, w − 1) ⊕ rotl(t₂, w − 2) ⊕ … ⊕ t_w          shingle = spread(p)
//
// Rotations make the order count. Equal tokens in one shingle would cancel if they were 64 apart, so the settings allow
// w up to 64. The values of a sample are distinct and sorted: shingles of those (super shingles) may have 128.
// Tokens must be uniform hashes, as those of `tokenise` are: small numbers would cancel each other.
//
// A document of fewer than w tokens is one shingle of all of them (where such documents were left out, a quarter of a
// collection was ignored: I-Match 2002, §4.4); a document without tokens has the empty set.
#pragma once

#include <algorithm>
#include <bit>
#include <span>

#include "buffer.hpp"
#include "hashing.hpp"
#include "sorting.hpp"

namespace roughly {

// x rotated to the left by any number of bits.
inline constexpr u64 rotate(u64 x, u64 by) { return std::rotl(x, static_cast<int>(by & 63)); }

// Hashes of the shingles of `size` tokens, in order, into out; returns how many: at most as many as tokens.
inline u64 shingles(std::span<const u64> tokens, u64 size, u64* out) {
    if (tokens.empty()) return 0;
    const u64 first = std::min<u64>(size, tokens.size());
    u64 p = 0;
    for (u64 i = 0; i < first; i++) p = rotate(p, 1) ^ tokens[i];
    out[0] = spread(p);
    u64 n = 1;
    for (u64 i = first; i < tokens.size(); i++) {
        p = rotate(p, 1) ^ rotate(tokens[i - size], size) ^ tokens[i];
        out[n++] = spread(p);
    }
    return n;
}

// The most tokens that a document has.
inline u64 longest(std::span<const i64> offsets) {
    i64 most = 0;
    for (std::size_t d = 0; d + 1 < offsets.size(); d++) most = std::max(most, offsets[d + 1] - offsets[d]);
    return static_cast<u64>(most);
}

inline std::span<const u64> slice(std::span<const u64> values, std::span<const i64> offsets, std::size_t d) {
    return values.subspan(static_cast<u64>(offsets[d]), static_cast<u64>(offsets[d + 1] - offsets[d]));
}

struct ShingleSets {
    Buffer<u64> values;
    Buffer<i64> offsets;
};

// The distinct shingles of each document, sorted, and where each document's begin.
inline ShingleSets shingle_sets(std::span<const u64> tokens, std::span<const i64> offsets, u64 size) {
    const std::size_t n = offsets.size() - 1;
    const u64 room = longest(offsets);
    Buffer<u64> values(room), sorted(room);
    Buffer<u32> counts(SORT_COUNTS);
    ShingleSets sets{Buffer<u64>(static_cast<u64>(offsets[n] - offsets[0]) + 1), Buffer<i64>(n + 1)};
    sets.offsets[0] = 0;
    u64 at = 0;
    for (std::size_t d = 0; d < n; d++) {
        const u64 count = shingles(slice(tokens, offsets, d), size, values.data());
        sort_hashes({values.data(), count}, sorted.data(), counts.data());
        at = put_distinct({sorted.data(), count}, sets.values.data(), at);
        sets.offsets[d + 1] = static_cast<i64>(at);
    }
    sets.values.truncate(at);
    return sets;
}

}  // namespace roughly
