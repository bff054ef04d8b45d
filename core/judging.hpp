// The similarity of two documents, from their sorted sets of values.
//
// The values of document d are values[i:ie], those of k values[j:je]. A set is complete, or it is a sample: all values
// up to a limit (the shingle hashes below it, which are a uniform sample). Two samples are compared below the smaller
// of their limits, where both are complete; with `most`, only among the `most` smallest values of their union, which is
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
#include <limits>

#include "sets.hpp"
#include "words.hpp"

namespace roughly {

enum class Measure : i64 { resemblance = 0, containment = 1, common = 2 };

struct Counts {
    i64 c, m, n;
};

// The measure as a number; division is correctly rounded, so that 4/5 ≥ 0.8.
inline double score(i64 c, i64 m, i64 n, Measure measure) {
    if (measure == Measure::common) return static_cast<double>(c);
    const i64 whole = measure == Measure::containment ? m : m + n - c;
    return whole == 0 ? 1.0 : static_cast<double>(c) / static_cast<double>(whole);
}

// x without its fraction, kept within ±2^62 so that a step from it cannot overflow. Not a number gives 0.
inline i64 whole_part(double x) {
    constexpr double most = 4611686018427387904.0;  // 2^62
    if (!(x == x)) return 0;
    return static_cast<i64>(std::clamp(x, -most, most));
}

// The least c that reaches the threshold.
inline i64 needed(i64 m, i64 n, Measure measure, double threshold) {
    i64 c = 0;
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

// The most values in which two sets of these sizes can differ and still reach the threshold.
inline double may_differ(i64 m, i64 n, Measure measure, double threshold) {
    const auto both = static_cast<double>(m + n);
    if (measure == Measure::resemblance) return both * (1.0 - threshold) / (1.0 + threshold);
    return both - 2.0 * (measure == Measure::common ? threshold : threshold * static_cast<double>(m));
}

// c of two complete sets, or −1 if the floor is not reached.
inline i64 shared_at_least(Values values, i64 i, i64 ie, i64 j, i64 je,
                                    Measure measure, double floor) {
    const i64 need = needed(ie - i, je - j, measure, floor);
    if (need > std::min(ie - i, je - j)) return NOT_ENOUGH;
    return intersect_at_least(values, i, ie, j, je, need);
}

// The counts of two samples, complete up to `limit` and `other`.
inline Counts estimate(Values values, i64 i, i64 ie, u64 limit, i64 j,
                       i64 je, u64 other, i64 most) {
    const u64 cut = std::min(limit, other);
    if (cut < std::numeric_limits<u64>::max()) {
        const auto end_below_cut = [&](i64 from, i64 to) {
            return static_cast<i64>(first_at_least(
                values, static_cast<u64>(from), static_cast<u64>(to), cut + 1));
        };
        ie = end_below_cut(i, ie);
        je = end_below_cut(j, je);
    }
    if (most == 0) return {intersect_at_least(values, i, ie, j, je, 0), ie - i, je - j};
    Counts counts{0, 0, 0};
    for (i64 taken = 0; taken < most && (i < ie || j < je); ++taken) {
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
