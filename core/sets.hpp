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
#include <cstdint>
#include <span>

namespace roughly {

// How many times as large the larger set must be for galloping to win (measured).
inline constexpr std::int64_t GALLOP = 16;
// Steps of a merge between two checks whether `need` can still be reached.
inline constexpr std::uint64_t STRIDE = 64;
inline constexpr std::int64_t NOT_ENOUGH = -1;

using Values = const std::uint64_t*;

// The first position in values[j:je] whose value is x or more, or je.
inline std::uint64_t first_at_least(Values values, std::uint64_t j, std::uint64_t je, std::uint64_t x) {
    while (j < je) {
        const std::uint64_t middle = (j + je) >> 1;
        if (values[middle] < x) {
            j = middle + 1;
        } else {
            je = middle;
        }
    }
    return j;
}

inline std::uint64_t merge_rest(Values values, std::uint64_t i, std::uint64_t ie, std::uint64_t j, std::uint64_t je) {
    std::uint64_t shared = 0;
    while (i < ie && j < je) {
        const std::uint64_t a = values[i], b = values[j];
        shared += a == b;
        i += a <= b;
        j += b <= a;
    }
    return shared;
}

// i … ie and j … je are the lower halves of the two sets, k … ke and m … me the upper ones.
inline std::int64_t merge(
    Values values, std::uint64_t i, std::uint64_t ie, std::uint64_t j, std::uint64_t je, std::uint64_t need) {
    if (i == ie) return need == 0 ? 0 : NOT_ENOUGH;
    const std::uint64_t ke = ie, me = je;
    std::uint64_t k = (i + ie) >> 1;
    std::uint64_t m = first_at_least(values, j, je, values[k]);
    ie = k;
    je = m;
    std::uint64_t shared = 0;
    for (;;) {
        const std::uint64_t low = std::min(ie - i, je - j), high = std::min(ke - k, me - m);
        if (shared + low + high < need) return NOT_ENOUGH;
        const std::uint64_t steps = std::min(STRIDE, std::min(low, high));
        if (steps == 0) break;
        for (std::uint64_t step = 0; step < steps; ++step) {
            const std::uint64_t a = values[i], b = values[j], c = values[k], d = values[m];
            shared += static_cast<std::uint64_t>(a == b) + static_cast<std::uint64_t>(c == d);
            i += a <= b;
            j += b <= a;
            k += c <= d;
            m += d <= c;
        }
    }
    shared += merge_rest(values, i, ie, j, je) + merge_rest(values, k, ke, m, me);
    return shared >= need ? static_cast<std::int64_t>(shared) : NOT_ENOUGH;
}

inline std::int64_t gallop(
    Values values, std::uint64_t i, std::uint64_t ie, std::uint64_t j, std::uint64_t je, std::uint64_t need) {
    std::uint64_t shared = 0;
    for (; i < ie && j < je; ++i) {
        if (shared + (ie - i) < need) return NOT_ENOUGH;
        const std::uint64_t x = values[i];
        std::uint64_t step = 1;
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
    return shared >= need ? static_cast<std::int64_t>(shared) : NOT_ENOUGH;
}

// How many values the sets values[i:ie] and values[j:je] share, or −1 as soon as it is clear that they are fewer than
// `need`.
inline std::int64_t intersect_at_least(
    Values values, std::int64_t i, std::int64_t ie, std::int64_t j, std::int64_t je, std::int64_t need) {
    if (ie - i > je - j) {
        std::swap(i, j);
        std::swap(ie, je);
    }
    if (ie - i < need) return NOT_ENOUGH;
    const auto least = static_cast<std::uint64_t>(std::max<std::int64_t>(need, 0));
    const auto unsigned_of = [](std::int64_t position) { return static_cast<std::uint64_t>(position); };
    if ((ie - i) * GALLOP < je - j) {
        return gallop(values, unsigned_of(i), unsigned_of(ie), unsigned_of(j), unsigned_of(je), least);
    }
    return merge(values, unsigned_of(i), unsigned_of(ie), unsigned_of(j), unsigned_of(je), least);
}

// How many values the sets left[p] and right[p] share, for each p.
inline void intersections(std::span<const std::uint64_t> values, std::span<const std::int64_t> offsets,
                          std::span<const std::int64_t> left, std::span<const std::int64_t> right,
                          std::span<std::int64_t> out) {
    for (std::size_t p = 0; p < out.size(); ++p) {
        const std::int64_t a = left[p], b = right[p];
        out[p] = intersect_at_least(values.data(), offsets[a], offsets[a + 1], offsets[b], offsets[b + 1], 0);
    }
}

}  // namespace roughly
