// Sizes of the intersections of sorted sets of distinct 64-bit values.
//
// Sets of similar size are merged without a branch on the values. A merge must finish each comparison before it knows
// what to load next, so both sets are cut in two at a common value and the halves are merged in step: twice the
// independent work per cycle. Where one set is more than GALLOP times as large, each value of the small one is searched
// by galloping: steps of 1, 2, 4, … from where the last search ended, then bisection, O(m log(n/m)).
//
// | symbol | meaning                                                                  |
// |--------|--------------------------------------------------------------------------|
// | need   | the caller has no use for an intersection of fewer values than this      |
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
// Steps of a merge between two checks whether `need` can still be reached.
inline constexpr u64 STRIDE = 64;
inline constexpr i64 NOT_ENOUGH = -1;

using Values = const u64*;

// The first position in values[j:je] whose value is x or more, or je.
inline u64 first_at_least(Values values, u64 j, u64 je, u64 x) {
    while (j < je) {
        const u64 middle = (j + je) >> 1;
        if (values[middle] < x) {
            j = middle + 1;
        } else {
            je = middle;
        }
    }
    return j;
}

inline u64 merge_rest(Values values, u64 i, u64 ie, u64 j, u64 je) {
    u64 shared = 0;
    while (i < ie && j < je) {
        const u64 a = values[i], b = values[j];
        shared += a == b;
        i += a <= b;
        j += b <= a;
    }
    return shared;
}

// i … ie and j … je are the lower halves of the two sets, k … ke and m … me the upper ones.
inline i64 merge(
    Values values, u64 i, u64 ie, u64 j, u64 je, u64 need) {
    if (i == ie) return need == 0 ? 0 : NOT_ENOUGH;
    const u64 ke = ie, me = je;
    u64 k = (i + ie) >> 1;
    u64 m = first_at_least(values, j, je, values[k]);
    ie = k;
    je = m;
    u64 shared = 0;
    for (;;) {
        const u64 low = std::min(ie - i, je - j), high = std::min(ke - k, me - m);
        if (shared + low + high < need) return NOT_ENOUGH;
        const u64 steps = std::min(STRIDE, std::min(low, high));
        if (steps == 0) break;
        for (u64 step = 0; step < steps; ++step) {
            const u64 a = values[i], b = values[j], c = values[k], d = values[m];
            shared += static_cast<u64>(a == b) + static_cast<u64>(c == d);
            i += a <= b;
            j += b <= a;
            k += c <= d;
            m += d <= c;
        }
    }
    shared += merge_rest(values, i, ie, j, je) + merge_rest(values, k, ke, m, me);
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

// How many values the sets values[i:ie] and values[j:je] share, or −1 as soon as it is clear that they are fewer than
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
    return merge(values, unsigned_of(i), unsigned_of(ie), unsigned_of(j), unsigned_of(je), least);
}

// How many values the sets left[p] and right[p] share, for each p.
inline void intersections(std::span<const u64> values, std::span<const i64> offsets,
                          std::span<const i64> left, std::span<const i64> right,
                          std::span<i64> out) {
    for (std::size_t p = 0; p < out.size(); ++p) {
        const i64 a = left[p], b = right[p];
        out[p] = intersect_at_least(values.data(), offsets[a], offsets[a + 1], offsets[b], offsets[b + 1], 0);
    }
}

}  // namespace roughly
