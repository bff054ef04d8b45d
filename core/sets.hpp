// Sizes of the intersections of sorted sets of distinct 64-bit values.
//
// Sets of similar size are merged without a branch on the values. A merge must finish each comparison before it knows
// what to load next, so both sets are cut at common values into parts (*lanes*) that are merged in step: independent
// work for the processor. Where one set is more than GALLOP times as large, each value of the small one is searched by
// galloping: steps of 1, 2, 4, … from where the last search ended, then bisection, O(m log(n/m)).
//
// A step of a merge moves past the smaller of two values, or past both where they are equal. So nothing has to be
// counted on the way:
//
//     shared = values passed in both sets − steps
//
// | symbol | meaning                                                                  |
// |--------|--------------------------------------------------------------------------|
// | need   | intersections of fewer values than this are not needed      |
//
// Positions are unsigned 64-bit numbers within one array of values, counts signed ones.
#pragma once

#include <algorithm>
#include <span>
#include <utility>

#include "words.hpp"

namespace roughly {

// How many times as large the larger set must be for galloping to win (measured).
inline constexpr i64 GALLOP = 16;
// The size from which sets are merged in four lanes instead of two (measured).
inline constexpr u64 FOUR_LANES = 256;
// Steps of a merge between two checks whether `need` can still be reached, at most and at least.
inline constexpr u64 STRIDE = 64, LEAST_STRIDE = 12;
inline constexpr i64 NOT_ENOUGH = -1;

using Values = const u64*;

// The first position in values[j:je] whose value is x or more, or je. No branch depends on a value.
inline u64 first_at_least(Values values, u64 j, u64 je, u64 x) {
    for (u64 size = je > j ? je - j : 0; size > 0;) {
        const u64 half = size >> 1;
        const bool is_below = values[j + half] < x;
        j = is_below ? j + half + 1 : j;
        size = is_below ? size - half - 1 : half;
    }
    return j;
}

inline u64 merge_rest(Values values, u64 i, u64 ie, u64 j, u64 je) {
    const u64 before = i + j;
    u64 steps = 0;
    for (; i < ie && j < je; ++steps) {
        const u64 a = values[i], b = values[j];
        i += a <= b;
        j += b <= a;
    }
    return i + j - before - steps;
}

// The smaller set, values[i:ie], is cut into parts of equal size, and values[j:je] where those begin.
template <int LANES>
i64 merge(Values values, u64 i, u64 ie, u64 j, u64 je, u64 need) {
    u64 at[LANES], end[LANES], other_at[LANES], other_end[LANES];
    for (u64 lane = 0; lane < LANES; ++lane) {
        at[lane] = i + (ie - i) * lane / LANES;
        other_at[lane] = lane == 0 ? j : first_at_least(values, j, je, values[at[lane]]);
    }
    for (int lane = 1; lane < LANES; ++lane) {
        other_at[lane] = std::max(other_at[lane], other_at[lane - 1]);  // nothing new where the values are in order
    }
    for (int lane = 0; lane < LANES; ++lane) {
        end[lane] = lane + 1 < LANES ? at[lane + 1] : ie;
        other_end[lane] = lane + 1 < LANES ? other_at[lane + 1] : je;
    }
    u64 shared = 0;
    for (;;) {
        u64 possible = shared, shortest = STRIDE, before = 0, after = 0;
        for (int lane = 0; lane < LANES; ++lane) {
            const u64 left = std::min(end[lane] - at[lane], other_end[lane] - other_at[lane]);
            possible += left;
            shortest = std::min(shortest, left);
            before += at[lane] + other_at[lane];
        }
        if (possible < need) return NOT_ENOUGH;
        if (shortest == 0) break;
        // sets that have little in common lose about half a value per step and lane
        const u64 steps = std::min(shortest, 2 * (possible - need) / LANES + LEAST_STRIDE);
        for (u64 step = 0; step < steps; ++step) {
            for (int lane = 0; lane < LANES; ++lane) {
                const u64 a = values[at[lane]], b = values[other_at[lane]];
                at[lane] += a <= b;
                other_at[lane] += b <= a;
            }
        }
        for (int lane = 0; lane < LANES; ++lane) after += at[lane] + other_at[lane];
        shared += after - before - LANES * steps;
    }
    for (int lane = 0; lane < LANES; ++lane) {
        shared += merge_rest(values, at[lane], end[lane], other_at[lane], other_end[lane]);
    }
    return shared >= need ? static_cast<i64>(shared) : NOT_ENOUGH;
}

inline i64 gallop(
    Values values, u64 i, u64 ie, u64 j, u64 je, u64 need) {
    u64 shared = 0;
    for (; i < ie && j < je; ++i) {
        if (shared + (ie - i) < need) return NOT_ENOUGH;
        const u64 x = values[i];
        u64 step = 1;
        while (j + step < je && values[j + step] < x) {
            j += step;
            step += step;
        }
        j = first_at_least(values, j, std::min(je, j + step + 1), x);
        if (j < je && values[j] == x) {
            ++shared;
            ++j;
        }
    }
    return shared >= need ? static_cast<i64>(shared) : NOT_ENOUGH;
}

// The number of values that the sets values[i:ie] and values[j:je] share, or −1 as soon as it is clear that it is below
// `need`.
inline i64 intersect_at_least(
    Values values, i64 i, i64 ie, i64 j, i64 je, i64 need) {
    if (ie - i > je - j) {
        std::swap(i, j);
        std::swap(ie, je);
    }
    if (ie - i < need) return NOT_ENOUGH;
    const auto least = static_cast<u64>(std::max<i64>(need, 0));
    const auto unsigned_of = [](i64 position) { return static_cast<u64>(position); };
    if ((ie - i) * GALLOP < je - j) {
        return gallop(values, unsigned_of(i), unsigned_of(ie), unsigned_of(j), unsigned_of(je), least);
    }
    if (ie == i) return 0;
    const auto merged = static_cast<u64>(ie - i) < FOUR_LANES ? &merge<2> : &merge<4>;
    return merged(values, unsigned_of(i), unsigned_of(ie), unsigned_of(j), unsigned_of(je), least);
}

// The number of values that the sets left[p] and right[p] share, for each p.
inline void intersections(std::span<const u64> values, std::span<const i64> offsets,
                          std::span<const i64> left, std::span<const i64> right,
                          std::span<i64> out) {
    for (std::size_t p = 0; p < out.size(); ++p) {
        const i64 a = left[p], b = right[p];
        out[p] = intersect_at_least(values.data(), offsets[a], offsets[a + 1], offsets[b], offsets[b + 1], 0);
    }
}

}  // namespace roughly
