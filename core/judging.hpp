// How alike two documents are, from the sorted sets of values that stand for them.
//
// The values of document d are values[i:ie], those of k values[j:je]. A set is complete, or it is a sample: all values
// up to a limit (the shingle hashes below it, which are a uniform sample). Two samples are compared below the smaller of
// their limits, where both are complete; with `most`, only among the `most` smallest values of their union, which is
// Broder's MIN_s (1997, §3). A score follows from three counts:
//
// | symbol | meaning                  |
// |--------|--------------------------|
// | c      | values that both have    |
// | m      | values of d that count   |
// | n      | values of k that count   |
//
//     resemblance = c / (m + n − c)        containment = c / m        common = c
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "sets.hpp"

namespace roughly {

enum class Measure : std::int64_t { resemblance = 0, containment = 1, common = 2 };

struct Counts {
    std::int64_t c, m, n;
};

// The measure as a number; division is correctly rounded, so that 4/5 ≥ 0.8.
inline double score(std::int64_t c, std::int64_t m, std::int64_t n, Measure measure) {
    if (measure == Measure::common) return static_cast<double>(c);
    const std::int64_t whole = measure == Measure::containment ? m : m + n - c;
    return whole == 0 ? 1.0 : static_cast<double>(c) / static_cast<double>(whole);
}

// x without its fraction, kept within ±2^62 so that a step from it cannot overflow. Not a number gives 0.
inline std::int64_t whole_part(double x) {
    constexpr double most = 4611686018427387904.0;  // 2^62
    if (!(x == x)) return 0;
    return static_cast<std::int64_t>(std::clamp(x, -most, most));
}

// The least c that reaches the threshold.
inline std::int64_t needed(std::int64_t m, std::int64_t n, Measure measure, double threshold) {
    std::int64_t c = 0;
    switch (measure) {
        case Measure::common: c = whole_part(threshold); break;
        case Measure::containment: c = whole_part(threshold * static_cast<double>(m)); break;
        case Measure::resemblance:
            c = whole_part(threshold * static_cast<double>(m + n) / (1.0 + threshold));
            break;
    }
    while (c > 0 && score(c - 1, m, n, measure) >= threshold) --c;
    while (score(c, m, n, measure) < threshold && c <= m + n) ++c;
    return c;
}

// In how many values two sets of these sizes can differ, at most, and still reach the threshold.
inline double may_differ(std::int64_t m, std::int64_t n, Measure measure, double threshold) {
    const auto both = static_cast<double>(m + n);
    if (measure == Measure::resemblance) return both * (1.0 - threshold) / (1.0 + threshold);
    return both - 2.0 * (measure == Measure::common ? threshold : threshold * static_cast<double>(m));
}

// c of two complete sets, or −1 where the floor is not reached.
inline std::int64_t shared_at_least(Values values, std::int64_t i, std::int64_t ie, std::int64_t j, std::int64_t je,
                                    Measure measure, double floor) {
    const std::int64_t need = needed(ie - i, je - j, measure, floor);
    if (need > std::min(ie - i, je - j)) return NOT_ENOUGH;
    return intersect_at_least(values, i, ie, j, je, need);
}

// The counts of two samples, complete up to `limit` and `other`.
inline Counts estimate(Values values, std::int64_t i, std::int64_t ie, std::uint64_t limit, std::int64_t j,
                       std::int64_t je, std::uint64_t other, std::int64_t most) {
    const std::uint64_t cut = std::min(limit, other);
    if (cut < std::numeric_limits<std::uint64_t>::max()) {
        const auto end_below_cut = [&](std::int64_t from, std::int64_t to) {
            return static_cast<std::int64_t>(first_at_least(
                values, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), cut + 1));
        };
        ie = end_below_cut(i, ie);
        je = end_below_cut(j, je);
    }
    if (most == 0) return {intersect_at_least(values, i, ie, j, je, 0), ie - i, je - j};
    Counts counts{0, 0, 0};
    for (std::int64_t taken = 0; taken < most && (i < ie || j < je); ++taken) {
        const bool mine = i < ie && (j >= je || values[i] <= values[j]);
        const bool theirs = j < je && (i >= ie || values[j] <= values[i]);
        counts.m += mine;
        i += mine;
        counts.n += theirs;
        j += theirs;
        counts.c += mine && theirs;
    }
    return counts;
}

}  // namespace roughly
