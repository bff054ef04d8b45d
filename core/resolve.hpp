// Which documents are kept: greedy resolution in order of rank, comparing each document with kept ones only.
//
// Documents are numbered 0, 1, … in order of rank, best first. A *bucket* is a set of documents that share a key. A
// document is compared with the kept documents of its buckets, each once; if none passes, it is kept itself and is
// added to its buckets. This is the lexicographically first maximal independent set of the candidate graph, found
// without forming the graph: a bucket of n near-copies of one page costs n comparisons, not n².
//
// slots[starts[b]:][:fill[b]] are the documents added to bucket b, in order of rank. Buckets with index ≥
// `uncapped_from` are uncapped; earlier ones hold at most `cap` kept documents. A bucket with more is *hot*, and the
// caller finds the candidates among its documents in another way (see prefixes.hpp). Only kept documents count towards
// the cap, and later ones are left out, so the same comparisons are made however the documents are cut into blocks.
//
// A hot bucket whose documents are all nearly the same becomes one uncapped bucket, where each document is compared with
// every kept one before it. There the sizes and bitmaps of the added documents are stored contiguously in the order of
// the slots (`DenseBuckets`), so that a comparison reads them in sequence instead of looking each up: a tenth of the
// time. These bitmaps are wide however little memory there is, since such buckets are few; and so are those of the
// loaded documents, which are compared with them.
//
// Documents whose sets are loaded are compared at once (`compare_with_added`; resolve_components.hpp has the loops over
// documents). If those of earlier documents are not, `find_candidates` lists the pairs, and `score_pairs` compares
// them.
//
// | symbol  | meaning                                                                    |
// |---------|----------------------------------------------------------------------------|
// | d       | the current document                                                       |
// | k       | a document of one of d's buckets that ranks above it                       |
// | c, m, n | counts of judging.hpp                                                      |
// | floor   | the lowest score of interest: at most the threshold of the rule            |
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "bitmaps.hpp"
#include "judging.hpp"
#include "matrix.hpp"
#include "prefetch.hpp"
#include "words.hpp"

namespace roughly {

inline constexpr i32 UNKNOWN_DAY = std::numeric_limits<i32>::min();

// Facts about the documents added to large buckets: from row first[b] on, in the order of the slots.
struct DenseBuckets {
    std::span<const i64> first;  // per bucket; −1 where it has no rows; empty where none has
    std::span<i32> sizes;
    Matrix<u64> bitmaps;

    // The row of a bucket's first slot, or −1.
    i64 row(i64 bucket) const { return first.empty() ? -1 : first[bucket]; }
};

// Which documents share which buckets, and which were added to them so far.
struct Buckets {
    std::span<const i64> doc_offsets;
    std::span<const u32> doc_buckets;
    std::span<const bool> is_probe;  // whether the document looks for others in this bucket; empty: always
    std::span<const i64> starts;
    std::span<u32> fill;
    std::span<u32> slots;
    std::span<u32> kept_counts;
    i64 uncapped_from;
    DenseBuckets dense;

    bool looks_in(i64 at) const { return is_probe.empty() || is_probe[at]; }
};

// Facts about each document.
struct Documents {
    std::span<u8> kept;  // 1 where it may be kept
    std::span<const i32> sizes;
    Matrix<const u64> bitmaps;
    Matrix<const u64> wide;  // of the loaded documents, from `first` on; as wide as the dense ones
    i64 first;
    std::span<const i32> days;     // of publication; empty where dates do not matter
    std::span<const i64> lengths;  // in tokens; empty where they do not matter
};

// Values of some documents: row r has values[offsets[r]:offsets[r + 1]].
struct SetsView {
    std::span<const u64> values;
    std::span<const i64> offsets;
    std::span<const u64> limits;  // empty where the sets are complete
    i64 most;
};

// When two documents are duplicates.
struct Rule {
    Measure measure;
    double threshold;
    i64 most_days;       // apart
    double least_ratio;  // of the shorter's length to the longer's
};

struct CandidatePair {
    i32 d, k;
};

struct ScoredPair {
    i32 d, k, c, m, n;
};

// Whether dates and lengths allow the two to be duplicates.
inline bool is_admitted(const Documents& documents, i64 d, i64 k, const Rule& rule) {
    if (!documents.days.empty()) {
        const i32 one = documents.days[d], other = documents.days[k];
        if (one == UNKNOWN_DAY || other == UNKNOWN_DAY) return false;
        const i64 apart = static_cast<i64>(one) - static_cast<i64>(other);
        if ((apart < 0 ? -apart : apart) > rule.most_days) return false;
    }
    if (!documents.lengths.empty()) {
        const auto [shorter, longer] = std::minmax(documents.lengths[d], documents.lengths[k]);
        if (static_cast<double>(shorter) < rule.least_ratio * static_cast<double>(longer)) return false;
    }
    return true;
}

// Whether the bitmaps of the two rule out that they reach the floor.
inline bool is_ruled_out(const Documents& documents, i64 d, i64 k, const Rule& rule, double floor) {
    if (documents.bitmaps.width == 0) return false;
    const double allowed = may_differ(documents.sizes[d], documents.sizes[k], rule.measure, floor) + 1.0;  // rounding
    return differ_by_more(documents.bitmaps.row(d), documents.bitmaps.row(k), documents.bitmaps.width, allowed);
}

// The first slot of a bucket whose document is this one or a later one.
inline i64 first_slot(const Buckets& buckets, i64 bucket, i64 document) {
    i64 low = buckets.starts[bucket];
    i64 high = low + buckets.fill[bucket];
    while (low < high) {
        const i64 middle = (low + high) / 2;
        if (buckets.slots[middle] < document) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The next slot before `stop` whose document is not ruled out; slot + shift is its row among the dense ones.
inline i64 next_similar(i64 slot, i64 stop, i64 shift, const Buckets& buckets, const Documents& documents, i64 d,
                        const Rule& rule, double floor) {
    const Matrix<u64>& bitmaps = buckets.dense.bitmaps;
    const u64* own = documents.wide.row(d - documents.first);
    const i64 m = documents.sizes[d];
    for (; slot < stop; ++slot) {
        const i64 row = slot + shift;
        const double allowed = may_differ(m, buckets.dense.sizes[row], rule.measure, floor) + 1.0;  // rounding
        if (!differ_by_more(own, bitmaps.row(row), bitmaps.width, allowed)) break;
    }
    return slot;
}

inline void prefetch_document(const Documents& documents, std::span<const i32> last_seen, i64 k) {
    prefetch(&last_seen[k]);
    prefetch(&documents.sizes[k]);
    const u64* row = documents.bitmaps.row(k);
    for (i64 word = 0; word < documents.bitmaps.width; word += 8) prefetch(row + word);
}

// The counts of two rows; c is −1 where the floor is not reached.
inline Counts count_shared_values(const SetsView& sets, i64 left, i64 right, const Rule& rule, double floor) {
    const i64 i = sets.offsets[left], ie = sets.offsets[left + 1];
    const i64 j = sets.offsets[right], je = sets.offsets[right + 1];
    const u64* values = sets.values.data();
    if (sets.limits.empty()) {
        return {shared_at_least(values, i, ie, j, je, rule.measure, floor), ie - i, je - j};
    }
    Counts counts = estimate(values, i, ie, sets.limits[left], j, je, sets.limits[right], sets.most);
    if (counts.c == 0 || score(counts.c, counts.m, counts.n, rule.measure) < floor) counts.c = NOT_ENOUGH;
    return counts;
}

inline ScoredPair scored(i64 d, i64 k, const Counts& counts) {
    return {static_cast<i32>(d), static_cast<i32>(k), static_cast<i32>(counts.c), static_cast<i32>(counts.m),
            static_cast<i32>(counts.n)};
}

struct FoundCandidates {
    std::vector<CandidatePair> pairs;
    i64 next;  // document
    i64 met;   // pairs that share a bucket, including those that were ruled out
};

// Pairs (d, k) to be compared: d from `start` to stop − 1, k from `least` to bound − 1 in one of its buckets.
//
// Pairs that bitmaps rule out are left out, but counted. Stops after the document that fills `limit` pairs. `last_seen`
// has a number below `start` for every document, and remembers for which d it was seen last.
inline FoundCandidates find_candidates(i64 start, i64 stop, i64 least, i64 bound, const Buckets& buckets,
                                       const Documents& documents, std::span<i32> last_seen, const Rule& rule,
                                       double floor, i64 limit) {
    FoundCandidates found{{}, start, 0};
    found.pairs.reserve(256);
    const auto add = [&](i64 d, i64 k) { found.pairs.push_back({static_cast<i32>(d), static_cast<i32>(k)}); };
    i64& d = found.next;
    for (; d < stop && static_cast<i64>(found.pairs.size()) < limit; ++d) {
        for (i64 at = buckets.doc_offsets[d]; at < buckets.doc_offsets[d + 1]; ++at) {
            if (!buckets.looks_in(at)) continue;
            const i64 bucket = buckets.doc_buckets[at];
            const i64 base = buckets.starts[bucket];
            if (const i64 row = buckets.dense.row(bucket); row >= 0) {
                i64 slot = first_slot(buckets, bucket, least);
                const i64 end = first_slot(buckets, bucket, bound);
                found.met += end - slot;
                for (;; ++slot) {
                    slot = next_similar(slot, end, row - base, buckets, documents, d, rule, floor);
                    if (slot >= end) break;
                    const i64 k = buckets.slots[slot];
                    if (last_seen[k] == d) continue;
                    last_seen[k] = static_cast<i32>(d);
                    add(d, k);
                }
                continue;
            }
            for (i64 slot = base + buckets.fill[bucket] - 1; slot >= base; --slot) {
                if (slot - PREFETCH_DISTANCE >= base) {
                    prefetch_document(documents, last_seen, buckets.slots[slot - PREFETCH_DISTANCE]);
                }
                const i64 k = buckets.slots[slot];
                if (k < least) break;
                if (k >= bound || last_seen[k] == d) continue;
                last_seen[k] = static_cast<i32>(d);
                if (!is_admitted(documents, d, k, rule)) continue;
                ++found.met;
                if (!is_ruled_out(documents, d, k, rule, floor)) add(d, k);
            }
        }
    }
    return found;
}

// The counts of pairs whose values are in rows `left` and `right`; those below the floor are left out.
inline std::vector<ScoredPair> score_pairs(Matrix<const i32> pairs, std::span<const i64> left,
                                           std::span<const i64> right, const SetsView& sets, const Rule& rule,
                                           double floor) {
    std::vector<ScoredPair> rows;
    for (i64 p = 0; p < pairs.rows; ++p) {
        const Counts counts = count_shared_values(sets, left[p], right[p], rule, floor);
        if (counts.c >= 0) rows.push_back(scored(pairs.row(p)[0], pairs.row(p)[1], counts));
    }
    rows.shrink_to_fit();
    return rows;
}

// Adds a document to its buckets; a kept one only if the cap allows it.
inline void add_to_buckets(i64 d, const Documents& documents, const Buckets& buckets, i64 cap) {
    for (i64 at = buckets.doc_offsets[d]; at < buckets.doc_offsets[d + 1]; ++at) {
        const i64 bucket = buckets.doc_buckets[at];
        if (documents.kept[d]) {
            buckets.kept_counts[bucket] += 1;
            if (bucket < buckets.uncapped_from && static_cast<i64>(buckets.kept_counts[bucket]) > cap) continue;
        }
        const i64 place = buckets.fill[bucket];
        buckets.slots[buckets.starts[bucket] + place] = static_cast<u32>(d);
        if (const i64 row = buckets.dense.row(bucket); row >= 0) {
            buckets.dense.sizes[row + place] = documents.sizes[d];
            const u64* own = documents.wide.row(d - documents.first);
            std::copy_n(own, buckets.dense.bitmaps.width, buckets.dense.bitmaps.row(row + place));
        }
        buckets.fill[bucket] += 1;
    }
}

// Sets of the loaded documents: document d has row rows[d − first].
struct SetsAtHand {
    SetsView sets;
    std::span<const i64> rows;
    i64 first;

    i64 row(i64 d) const { return rows[d - first]; }
};

// Compares d with the documents from `least` on that were added to its buckets, and calls take(k, counts) for each that
// reaches the floor; returns their number. Their sets must be loaded.
template <typename Take>
i64 compare_with_added(i64 d, i64 least, const Buckets& buckets, const Documents& documents, std::span<i32> last_seen,
                       const SetsAtHand& at_hand, const Rule& rule, double floor, Take&& take) {
    i64 met = 0;
    for (i64 at = buckets.doc_offsets[d]; at < buckets.doc_offsets[d + 1]; ++at) {
        if (!buckets.looks_in(at)) continue;
        const i64 bucket = buckets.doc_buckets[at];
        const i64 base = buckets.starts[bucket];
        const i64 end = base + buckets.fill[bucket];
        const i64 row = buckets.dense.row(bucket);
        i64 slot = first_slot(buckets, bucket, least);
        if (row >= 0) met += end - slot;
        for (; slot < end; ++slot) {
            if (row >= 0) {
                slot = next_similar(slot, end, row - base, buckets, documents, d, rule, floor);
                if (slot >= end) break;
            } else if (slot + PREFETCH_DISTANCE < end) {
                prefetch_document(documents, last_seen, buckets.slots[slot + PREFETCH_DISTANCE]);
            }
            const i64 k = buckets.slots[slot];
            if (last_seen[k] == d) continue;
            last_seen[k] = static_cast<i32>(d);
            if (row < 0) {
                if (!is_admitted(documents, d, k, rule)) continue;
                ++met;
                if (is_ruled_out(documents, d, k, rule, floor)) continue;
            }
            const Counts counts = count_shared_values(at_hand.sets, at_hand.row(d), at_hand.row(k), rule, floor);
            if (counts.c >= 0) take(k, counts);
        }
    }
    return met;
}

}  // namespace roughly
