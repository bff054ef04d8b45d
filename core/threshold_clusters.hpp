// The clusters of a collection at many thresholds, from its scored pairs: what a run at each threshold would find.
//
// Documents are numbered by rank, best first, and pairs (d, k < d) are sorted by d. At a threshold t, *star*: a
// document is removed if a kept document reaches t with it, and belongs to the kept document it is most like (ties: the
// better rank). *Components*: documents are connected by pairs that reach t, and belong to the best-ranked one.
#pragma once

#include <span>

#include "matrix.hpp"
#include "words.hpp"

namespace roughly {

struct ScoredPairs {
    std::span<const i64> offsets;  // of document d: others[offsets[d]:offsets[d + 1]]
    std::span<const i32> others;
    std::span<const double> scores;
};

inline void star_groups(const ScoredPairs& pairs, double threshold, i32* group) {
    const auto documents = static_cast<i64>(pairs.offsets.size()) - 1;
    for (i64 d = 0; d < documents; ++d) {
        double best = -1.0;
        i32 witness = static_cast<i32>(d);
        for (i64 at = pairs.offsets[d]; at < pairs.offsets[d + 1]; ++at) {
            const i32 other = pairs.others[at];
            const double score = pairs.scores[at];
            if (score < threshold || group[other] != other) continue;  // too different, or removed
            if (score > best || (score == best && other < witness)) {
                best = score;
                witness = other;
            }
        }
        group[d] = witness;
    }
}

inline i32 root_of(i32* group, i32 d) {
    while (group[d] != d) {
        group[d] = group[group[d]];
        d = group[d];
    }
    return d;
}

inline void component_groups(const ScoredPairs& pairs, double threshold, i32* group) {
    const auto documents = static_cast<i64>(pairs.offsets.size()) - 1;
    for (i64 d = 0; d < documents; ++d) group[d] = static_cast<i32>(d);
    for (i64 d = 0; d < documents; ++d) {
        for (i64 at = pairs.offsets[d]; at < pairs.offsets[d + 1]; ++at) {
            if (pairs.scores[at] < threshold) continue;
            const i32 one = root_of(group, static_cast<i32>(d)), other = root_of(group, pairs.others[at]);
            if (one < other) group[other] = one;
            if (other < one) group[one] = other;
        }
    }
    for (i64 d = 0; d < documents; ++d) group[d] = root_of(group, static_cast<i32>(d));
}

// The best document of the cluster of each document, a row per threshold.
inline void threshold_clusters(const ScoredPairs& pairs, std::span<const double> thresholds, bool linked,
                               Matrix<i32> groups) {
    for (std::size_t t = 0; t < thresholds.size(); ++t) {
        i32* row = groups.row(static_cast<i64>(t));
        if (linked) {
            component_groups(pairs, thresholds[t], row);
        } else {
            star_groups(pairs, thresholds[t], row);
        }
    }
}

}  // namespace roughly
