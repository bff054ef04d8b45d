// Sketches: sorted samples of a document's w-shingles, and what two of them say about the documents (Broder 1997, §3).
//
// A sample keeps the shingle hashes that are at most a limit. Hashes are uniform, so a limit of 2^64/m − 1 keeps one in
// m, as MOD_m does; and since it keeps a *prefix* of the sorted set, a sketch is reduced to a coarser one by cutting it
// at the smaller limit. MIN_s, the s smallest, is a prefix too, whose limit is its last value.
//
//     samples      every document by a limit of its own: MOD_m, V_i, or all of them
//     smallest     MIN_s
//     estimates    what pairs of sketches have in common, and up to which value that was counted
//
// Values below a limit have leading zeros in common, which would overfill the buckets that `sort_hashes` counts by. So
// they are sorted with those bits shifted out, and shifted back. Hashes and limits are uint64, positions int64.
//
// | symbol     | name     |
// |------------|----------|
// | w          | `size`   |
// | s          | `most`   |
// | 2^64/m − 1 | `limits` |
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <span>

#include "buffer.hpp"
#include "hashing.hpp"
#include "judging.hpp"
#include "shingles.hpp"
#include "sorting.hpp"
#include "words.hpp"

namespace roughly {

struct Sketches {
    Buffer<u64> values;
    Buffer<i64> offsets;
    Buffer<u64> limits;  // of MIN_s only
};

// How many zeros every value up to the limit begins with, at most 63.
inline int leading_zeros(u64 limit) { return std::min(std::countl_zero(limit), 63); }

// The hashes up to the limit, without their leading zeros, into `out`, which has room for one more; returns how many.
inline u64 pick(std::span<const u64> hashes, u64 limit, u64* out) {
    const int lead = leading_zeros(limit);
    u64 n = 0;
    for (const u64 h : hashes) {
        out[n] = h << lead;
        n += h <= limit;
    }
    return n;
}

// The same for the shingles of a document, which are not stored.
inline u64 pick_shingles(std::span<const u64> tokens, u64 size, u64 limit, u64* out) {
    if (tokens.empty()) return 0;
    const int lead = leading_zeros(limit);
    const u64 first = std::min<u64>(size, tokens.size());
    u64 p = 0;
    for (u64 i = 0; i < first; i++) p = rotate(p, 1) ^ tokens[i];
    u64 h = spread(p);
    out[0] = h << lead;
    u64 n = h <= limit;
    for (u64 i = first; i < tokens.size(); i++) {
        p = rotate(p, 1) ^ rotate(tokens[i - size], size) ^ tokens[i];
        h = spread(p);
        out[n] = h << lead;
        n += h <= limit;
    }
    return n;
}

// Sorts what was picked. For documents of up to `most` tokens.
struct Sampler {
    explicit Sampler(u64 most) : picked(most + 1), sorted(most + 1), counts(SORT_COUNTS) {}

    // The distinct values of those picked, in order and with their leading zeros again, to out[at], …; returns the new
    // end. Writes one ahead.
    u64 put_sorted(std::span<const u64> values, u64 limit, u64* out, u64 at) {
        sort_hashes(values, sorted.data(), counts.data());
        const u64 end = put_distinct({sorted.data(), values.size()}, out, at);
        if (const int lead = leading_zeros(limit)) {
            for (u64 i = at; i < end; i++) out[i] >>= lead;
        }
        return end;
    }

    Buffer<u64> picked, sorted;
    Buffer<u32> counts;
};

// The distinct shingles of document d that are at most limits[d], sorted.
inline Sketches samples(std::span<const u64> tokens, std::span<const i64> offsets, u64 size,
                        std::span<const u64> limits) {
    const std::size_t documents = offsets.size() - 1;
    Sampler sampler(longest(offsets));
    Sketches out{Buffer<u64>(static_cast<u64>(offsets[documents] - offsets[0]) + 1), Buffer<i64>(documents + 1), {}};
    out.offsets[0] = 0;
    u64 at = 0;
    for (std::size_t d = 0; d < documents; d++) {
        const u64 n = pick_shingles(slice(tokens, offsets, d), size, limits[d], sampler.picked.data());
        at = sampler.put_sorted({sampler.picked.data(), n}, limits[d], out.values.data(), at);
        out.offsets[d + 1] = static_cast<i64>(at);
    }
    out.values.resize(at);
    return out;
}

// The `most` smallest distinct shingles of each document, sorted. A document that has no more is complete, and its
// limit is 2^64 − 1. A limit with enough shingles below it is estimated, and again if repeats left too few.
inline Sketches smallest(std::span<const u64> tokens, std::span<const i64> offsets, u64 size, i64 most) {
    const std::size_t documents = offsets.size() - 1;
    const auto wanted = static_cast<u64>(most);
    const double slack = static_cast<double>(most) + 4.0 * std::sqrt(static_cast<double>(most)) + 8.0;
    Sampler sampler(longest(offsets));
    Buffer<u64> hashes(longest(offsets));
    Sketches out{Buffer<u64>(static_cast<u64>(offsets[documents] - offsets[0]) + 1), Buffer<i64>(documents + 1),
                 Buffer<u64>(documents)};
    out.offsets[0] = 0;
    u64 at = 0;
    for (std::size_t d = 0; d < documents; d++) {
        const u64 n = shingles(slice(tokens, offsets, d), size, hashes.data());
        const auto put = [&](u64 limit) {
            if (limit == ALL_BITS) return sampler.put_sorted({hashes.data(), n}, limit, out.values.data(), at);
            const u64 picked = pick({hashes.data(), n}, limit, sampler.picked.data());
            return sampler.put_sorted({sampler.picked.data(), picked}, limit, out.values.data(), at);
        };
        const auto count = static_cast<double>(n);
        u64 limit = slack < count ? static_cast<u64>(slack / count * 0x1p64 * 0.999) : ALL_BITS;
        u64 end = put(limit);
        while (end - at < wanted && limit != ALL_BITS) {
            limit = limit > ALL_BITS / 4 ? ALL_BITS : limit * 4;
            end = put(limit);
        }
        if (end - at > wanted || (end - at == wanted && limit != ALL_BITS)) {
            end = at + wanted;
            limit = out.values[end - 1];
        } else {
            limit = ALL_BITS;
        }
        out.limits[d] = limit;
        at = end;
        out.offsets[d + 1] = static_cast<i64>(at);
    }
    out.values.resize(at);
    return out;
}

// What the sketches left[p] and right[p] have in common, and up to which value that was counted, into `reach`.
inline void estimates(std::span<const u64> values, std::span<const i64> offsets, std::span<const u64> limits, i64 most,
                      std::span<const i64> left, std::span<const i64> right, Counts* counts, u64* reach) {
    for (std::size_t p = 0; p < left.size(); p++) {
        const auto a = static_cast<std::size_t>(left[p]), b = static_cast<std::size_t>(right[p]);
        const i64 i = offsets[a], j = offsets[b];
        const Counts found =
            estimate(values.data(), i, offsets[a + 1], limits[a], j, offsets[b + 1], limits[b], most);
        counts[p] = found;
        reach[p] = std::min(limits[a], limits[b]);
        if (most > 0 && found.m + found.n - found.c == most) {
            const u64 last_a = found.m > 0 ? values[static_cast<std::size_t>(i + found.m - 1)] : 0;
            const u64 last_b = found.n > 0 ? values[static_cast<std::size_t>(j + found.n - 1)] : 0;
            reach[p] = std::min(reach[p], std::max(last_a, last_b));
        }
    }
}

}  // namespace roughly
