// The exact join of sets: every pair at or above a threshold, by prefix, length and bitmap filters.
//
// Sets are numbered by size, the smallest first. Buckets hold the documents whose prefix has a value (prefixes.hpp), in
// ascending order. A pair that shares a value of the right prefixes is a candidate; sizes and bitmaps rule out most.
#pragma once

#include <span>
#include <vector>

#include "bitmaps.hpp"
#include "judging.hpp"
#include "matrix.hpp"
#include "prefetch.hpp"
#include "resolve.hpp"
#include "words.hpp"

namespace roughly {

// Documents by bucket and buckets by document.
struct Incidence {
    std::span<const i64> doc_offsets;
    std::span<const u32> doc_buckets;
    std::span<const i64> bucket_offsets;
    std::span<const u32> bucket_docs;
};

struct JoinedSets {
    std::span<const i64> sizes;
    Matrix<const u64> bitmaps;
    double threshold;
};

struct JoinCandidates {
    std::vector<CandidatePair> pairs;
    i64 met = 0;

    void add(i64 d, i64 k) { pairs.push_back({static_cast<i32>(d), static_cast<i32>(k)}); }
};

// The first place in docs[low:high], which ascends, whose document is above d.
inline i64 first_after(std::span<const u32> docs, i64 low, i64 high, i64 d) {
    while (low < high) {
        const i64 middle = (low + high) >> 1;
        if (docs[middle] <= d) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

inline bool is_ruled_out(const JoinedSets& sets, i64 d, i64 k, Measure measure) {
    const double allowed = may_differ(sets.sizes[d], sets.sizes[k], measure, sets.threshold) + 1.0;  // rounding
    return differ_by_more(sets.bitmaps.row(d), sets.bitmaps.row(k), sets.bitmaps.width, allowed);
}

inline void prefetch_set(const JoinedSets& sets, std::span<const i64> last_seen, i64 k) {
    prefetch(&last_seen[k]);
    prefetch(&sets.sizes[k]);
    for (i64 word = 0; word < sets.bitmaps.width; word += 8) prefetch(sets.bitmaps.row(k) + word);
}

// Candidates (d, k) for resemblance: d from `start` to stop − 1, k < d with a value of its shorter prefix (`is_answer`,
// by place in the buckets) in one of d's buckets. `last_seen` has −1 for each document.
inline JoinCandidates find_smaller(i64 start, i64 stop, const Incidence& incidence, std::span<const bool> is_answer,
                                   const JoinedSets& sets, std::span<i64> last_seen) {
    JoinCandidates found;
    for (i64 d = start; d < stop; ++d) {
        const i64 least = needed(sets.sizes[d], 0, Measure::containment, sets.threshold);
        for (i64 at = incidence.doc_offsets[d]; at < incidence.doc_offsets[d + 1]; ++at) {
            const i64 bucket = incidence.doc_buckets[at];
            const i64 low = incidence.bucket_offsets[bucket], high = incidence.bucket_offsets[bucket + 1];
            const i64 own = first_after(incidence.bucket_docs, low, high, d) - 1;
            for (i64 place = own - 1; place >= low; --place) {
                if (place - PREFETCH_DISTANCE >= low) {
                    prefetch_set(sets, last_seen, incidence.bucket_docs[place - PREFETCH_DISTANCE]);
                }
                const i64 k = incidence.bucket_docs[place];
                if (sets.sizes[k] < least) break;
                if (!is_answer[place] || last_seen[k] == d) continue;
                last_seen[k] = d;
                ++found.met;
                if (!is_ruled_out(sets, d, k, Measure::resemblance)) found.add(d, k);
            }
        }
    }
    return found;
}

// Candidates (d, k) for containment: d from `start` to stop − 1 with a value of its prefix (`is_probe`, by place in the
// documents' buckets), and k > d, which has that value.
inline JoinCandidates find_larger(i64 start, i64 stop, const Incidence& incidence, std::span<const bool> is_probe,
                                  const JoinedSets& sets, std::span<i64> last_seen) {
    JoinCandidates found;
    for (i64 d = start; d < stop; ++d) {
        for (i64 at = incidence.doc_offsets[d]; at < incidence.doc_offsets[d + 1]; ++at) {
            if (!is_probe[at]) continue;
            const i64 bucket = incidence.doc_buckets[at];
            const i64 low = incidence.bucket_offsets[bucket], high = incidence.bucket_offsets[bucket + 1];
            for (i64 place = first_after(incidence.bucket_docs, low, high, d); place < high; ++place) {
                if (place + PREFETCH_DISTANCE < high) {
                    prefetch_set(sets, last_seen, incidence.bucket_docs[place + PREFETCH_DISTANCE]);
                }
                const i64 k = incidence.bucket_docs[place];
                if (last_seen[k] == d) continue;
                last_seen[k] = d;
                ++found.met;
                if (!is_ruled_out(sets, d, k, Measure::containment)) found.add(d, k);
            }
        }
    }
    return found;
}

}  // namespace roughly
