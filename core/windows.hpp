// How often sampled detection is right, for all sampling ratios and all trials of each in one pass over a pair.
//
// Ye 2008, §4.4 samples at the ratio 1/n n times, once for each remainder modulo n, and averages. Here a trial at ratio
// 1/2^l takes the hashes whose first l bits are the trial's number. Trials of a coarser ratio are then unions of
// trials of a finer one, so one merge of two sorted sets that counts by the first `levels` bits has all of them.
//
// | symbol | name                                                       |
// |--------|------------------------------------------------------------|
// | l      | a level: the ratio is 2^−l, and there are 2^l trials       |
// | t      | `thresholds`                                               |
#pragma once

#include <span>
#include <vector>

#include "words.hpp"

namespace roughly {

// What `tally` adds to; right and wrong are (groups, levels + 1, thresholds), true_pairs is (groups, thresholds).
struct Tallies {
    std::span<i64> right, wrong, true_pairs;
};

// Add to `right` and `wrong` the numbers of found pairs, over all trials, that are and are not true; to `true_pairs`
// all true ones. Pair p is the two sorted sets pairs[2p], pairs[2p + 1], counted in group groups[p].
inline void tally_trials(std::span<const u64> values, std::span<const i64> offsets, std::span<const i64> pairs,
                         std::span<const i64> groups, int levels, std::span<const double> thresholds,
                         Tallies tallies) {
    const std::size_t finest = std::size_t{1} << levels, T = thresholds.size();
    const auto trial_of = [levels](u64 x) -> std::size_t { return levels > 0 ? x >> (64 - levels) : 0; };
    std::vector<i64> shared(finest), together(finest);
    for (std::size_t p = 0; p < groups.size(); p++) {
        shared.assign(finest, 0);
        together.assign(finest, 0);
        const auto first = static_cast<u64>(pairs[2 * p]), second = static_cast<u64>(pairs[2 * p + 1]);
        i64 i = offsets[first], j = offsets[second], both = 0, whole = 0;
        const i64 i_end = offsets[first + 1], j_end = offsets[second + 1];
        const auto at = [&values](i64 place) { return values[static_cast<u64>(place)]; };
        while (i < i_end || j < j_end) {
            u64 x;
            if (j == j_end || (i < i_end && at(i) < at(j))) {
                x = at(i++);
            } else if (i == i_end || at(j) < at(i)) {
                x = at(j++);
            } else {
                x = at(i++);
                j++;
                both++;
                shared[trial_of(x)]++;
            }
            whole++;
            together[trial_of(x)]++;
        }
        if (both == 0) continue;
        const auto g = static_cast<u64>(groups[p]);
        const double resemblance = static_cast<double>(both) / static_cast<double>(whole);
        for (std::size_t t = 0; t < T; t++) tallies.true_pairs[g * T + t] += resemblance >= thresholds[t];
        std::size_t trials = finest;
        for (int level = levels; level >= 0; level--) {
            for (std::size_t w = 0; w < trials; w++) {
                if (shared[w] == 0) continue;
                const double estimate = static_cast<double>(shared[w]) / static_cast<double>(together[w]);
                for (std::size_t t = 0; t < T; t++) {
                    if (!(estimate >= thresholds[t])) continue;
                    auto& counts = resemblance >= thresholds[t] ? tallies.right : tallies.wrong;
                    counts[(g * static_cast<u64>(levels + 1) + static_cast<u64>(level)) * T + t]++;
                }
            }
            trials /= 2;
            for (std::size_t w = 0; w < trials; w++) {
                shared[w] = shared[2 * w] + shared[2 * w + 1];
                together[w] = together[2 * w] + together[2 * w + 1];
            }
        }
    }
}

}  // namespace roughly
