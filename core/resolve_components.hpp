// Resolves components of the candidate graph: many small ones in parallel, or a large one run by run.
//
// Documents are in order by component and by rank within it (candidate_components.hpp). A small component is resolved
// by one thread, document after document. In a large one, some documents are compared with those before them on all
// threads, and then with each other in order of rank; a run of them sees the same floor.
//
// Both give, per document, the `evidence` most similar of the documents that reach the threshold, and in all the `near`
// best pairs below it. The latter raise the floor during the work: what it rules out could not be among them, so they
// are the same whichever thread was first. With dense buckets the floor does not change within a call or a run, since
// there it decides how often a pair that shares several buckets is counted.
#pragma once

#include <algorithm>
#include <atomic>
#include <span>
#include <vector>

#include "resolve.hpp"

namespace roughly {

struct ResolveLimits {
    double floor;
    i64 cap;          // of kept documents per bucket
    bool every_pair;  // removed documents are compared with too, and all pairs are returned
    i64 evidence, near;
};

// The best pairs below the threshold; ties are broken by the documents' ranks. For one thread.
class NearMisses {
public:
    NearMisses(std::span<const i64> ranks, Measure measure, i64 most)
        : ranks_(ranks), measure_(measure), most_(static_cast<std::size_t>(most)) {}

    void add(const ScoredPair& pair) {
        pairs_.push_back(pair);
        if (pairs_.size() >= 4 * most_ + 64) shrink();
    }

    // A score that all the best pairs reach; 0 while there are fewer of them.
    double floor() const { return floor_; }

    void shrink() {
        if (pairs_.size() < most_ || most_ == 0) return;
        const auto last = pairs_.begin() + static_cast<std::ptrdiff_t>(most_) - 1;
        const auto better = [this](const ScoredPair& one, const ScoredPair& other) { return is_better(one, other); };
        std::nth_element(pairs_.begin(), last, pairs_.end(), better);
        floor_ = score_of(*last);
        pairs_.resize(most_);
    }

    const std::vector<ScoredPair>& pairs() const { return pairs_; }

private:
    double score_of(const ScoredPair& pair) const { return score(pair.c, pair.m, pair.n, measure_); }

    bool is_better(const ScoredPair& one, const ScoredPair& other) const {
        const double mine = score_of(one), theirs = score_of(other);
        if (mine != theirs) return mine > theirs;
        if (one.d != other.d) return ranks_[one.d] < ranks_[other.d];
        return ranks_[one.k] < ranks_[other.k];
    }

    std::span<const i64> ranks_;
    Measure measure_;
    std::size_t most_;
    double floor_ = 0;
    std::vector<ScoredPair> pairs_;
};

struct Resolved {
    std::vector<ScoredPair> pairs, near;
    i64 met = 0;
    i64 stop = 0;  // the first document that was not resolved
};

// All that resolution reads and writes.
struct Resolution {
    const Buckets& buckets;
    const Documents& documents;
    const SetsAtHand& at_hand;
    const Rule& rule;
    const ResolveLimits& limits;
    std::span<const i64> ranks;

    NearMisses near_misses() const { return {ranks, rule.measure, limits.near}; }

    // Compares d with documents from `least` on; adds what reaches the threshold to `pairs`.
    i64 compare(i64 d, i64 least, std::span<i32> last_seen, double floor, std::vector<ScoredPair>& pairs,
                NearMisses& near) const {
        return compare_with_added(d, least, buckets, documents, last_seen, at_hand, rule, floor,
                                  [&](i64 k, const Counts& counts) {
                                      if (score(counts.c, counts.m, counts.n, rule.measure) < rule.threshold) {
                                          near.add(scored(d, k, counts));
                                          return;
                                      }
                                      if (documents.kept[k]) documents.kept[d] = 0;
                                      pairs.push_back(scored(d, k, counts));
                                  });
    }

    // Leaves only the most similar of the pairs of one document, which are those from `begin` on.
    void keep_most_alike(std::vector<ScoredPair>& pairs, std::size_t begin) const {
        const auto most = static_cast<std::size_t>(limits.evidence);
        if (limits.every_pair || pairs.size() - begin <= most) return;
        const auto first = pairs.begin() + static_cast<std::ptrdiff_t>(begin);
        std::nth_element(first, first + static_cast<std::ptrdiff_t>(most), pairs.end(),
                         [this](const ScoredPair& one, const ScoredPair& other) {
                             const double mine = score(one.c, one.m, one.n, rule.measure);
                             const double theirs = score(other.c, other.m, other.n, rule.measure);
                             return mine != theirs ? mine > theirs : one.k < other.k;
                         });
        pairs.resize(begin + most);
    }

    void add(i64 d) const {
        if (documents.kept[d] || limits.every_pair) add_to_buckets(d, documents, buckets, limits.cap);
    }
};

// Entries of documents in buckets that a thread takes at a time: small components come many together.
inline constexpr i64 ENTRIES_PER_GROUP = 4096;

// Resolves components cuts[c] … cuts[c + 1] − 1. `loop(n, chunk, body)` runs a body over 0 … n − 1 on `threads`
// threads.
template <typename Loop>
Resolved resolve_components(std::span<const i64> cuts, const Resolution& work, std::span<i32> last_seen,
                            unsigned threads, Loop&& loop) {
    std::vector<std::size_t> groups{0};
    const std::span<const i64> offsets = work.buckets.doc_offsets;
    for (std::size_t c = 1; c < cuts.size(); ++c) {
        if (offsets[cuts[c]] - offsets[cuts[groups.back()]] >= ENTRIES_PER_GROUP || c + 1 == cuts.size()) {
            groups.push_back(c);
        }
    }
    struct Group {
        std::vector<ScoredPair> pairs;
        i64 met = 0;
    };
    std::vector<Group> found(groups.size() - 1);
    std::vector<NearMisses> near(threads, work.near_misses());
    std::atomic<double> floor{work.limits.floor};
    const bool floor_may_rise = work.buckets.dense.first.empty();
    loop(found.size(), std::size_t{1}, [&](std::size_t begin, std::size_t end, unsigned worker) {
        NearMisses& own_near = near[worker];
        for (std::size_t g = begin; g < end; ++g) {
            Group& own = found[g];
            for (std::size_t c = groups[g]; c < groups[g + 1]; ++c) {
                for (i64 d = cuts[c]; d < cuts[c + 1]; ++d) {
                    const std::size_t before = own.pairs.size();
                    own.met += work.compare(d, cuts[c], last_seen, floor.load(std::memory_order_relaxed), own.pairs,
                                            own_near);
                    work.keep_most_alike(own.pairs, before);
                    work.add(d);
                }
            }
            double known = floor.load(std::memory_order_relaxed);
            while (floor_may_rise && known < own_near.floor() &&
                   !floor.compare_exchange_weak(known, own_near.floor(), std::memory_order_relaxed)) {
            }
        }
    });
    Resolved all;
    std::size_t count = 0;
    for (const Group& group : found) count += group.pairs.size();
    all.pairs.reserve(count);
    for (Group& group : found) {
        all.pairs.insert(all.pairs.end(), group.pairs.begin(), group.pairs.end());
        all.met += group.met;
        group.pairs = {};
    }
    NearMisses best = work.near_misses();
    for (const NearMisses& own : near) {
        for (const ScoredPair& pair : own.pairs()) best.add(pair);
    }
    best.shrink();
    all.near = best.pairs();
    all.stop = cuts.back();
    return all;
}

// Pairs of documents for which one more thread is worth its start.
inline constexpr i64 PAIRS_PER_THREAD = 1 << 14;
// Documents of a run that one thread compares with each other.
inline constexpr i64 ONE_BY_ONE = 256;

// Resolves documents start … stop − 1 of one component. Documents before `at_hand` have been compared with already.
// With `enough`, it ends after the run with which more documents than that are kept. `last_seen` has a row per thread;
// `loop(n, chunk, threads, body)` runs a body over 0 … n − 1 on this number of threads.
template <typename Loop>
Resolved resolve_large_component(i64 start, i64 stop, i64 run, i64 enough, const Resolution& work,
                                 Matrix<i32> last_seen, Loop&& loop) {
    const auto threads = static_cast<i64>(last_seen.rows);
    const auto stamps = [&](i64 worker) {
        return std::span<i32>(last_seen.row(worker), static_cast<std::size_t>(last_seen.width));
    };
    Resolved all;
    all.stop = start;
    NearMisses best = work.near_misses();
    double floor = work.limits.floor;
    i64 kept = 0;
    std::vector<std::vector<ScoredPair>> ahead(static_cast<std::size_t>(std::min({run, ONE_BY_ONE, stop - start})));
    std::vector<i64> met(static_cast<std::size_t>(threads));
    const auto resolve = [&](i64 first, i64 last, std::vector<NearMisses>& near) {
        i64 pairs = 0;
        for (i64 at = work.buckets.doc_offsets[first]; at < work.buckets.doc_offsets[last]; ++at) {
            pairs += work.buckets.fill[work.buckets.doc_buckets[at]];
        }
        std::fill(met.begin(), met.end(), 0);
        const auto useful = static_cast<unsigned>(std::clamp<i64>(pairs / PAIRS_PER_THREAD, 1, threads));
        loop(static_cast<std::size_t>(last - first), std::size_t{4}, useful,
             [&](std::size_t begin, std::size_t end, unsigned worker) {
                 for (std::size_t i = begin; i < end; ++i) {
                     ahead[i].clear();
                     met[worker] += work.compare(first + static_cast<i64>(i), start, stamps(worker), floor, ahead[i],
                                                 near[worker]);
                     work.keep_most_alike(ahead[i], 0);
                 }
             });
        for (const i64 more : met) all.met += more;
        for (i64 d = first; d < last; ++d) {
            const std::size_t before = all.pairs.size();
            const auto& own = ahead[static_cast<std::size_t>(d - first)];
            all.pairs.insert(all.pairs.end(), own.begin(), own.end());
            all.met += work.compare(d, first, stamps(0), floor, all.pairs, near[0]);
            work.keep_most_alike(all.pairs, before);
            work.add(d);
            kept += work.documents.kept[d];
        }
    };
    for (i64 first = start; first < stop && (enough < 0 || kept <= enough); first = all.stop) {
        all.stop = std::min(stop, first + run);
        std::vector<NearMisses> near(static_cast<std::size_t>(threads), work.near_misses());
        for (i64 d = first; d < all.stop; d += ONE_BY_ONE) resolve(d, std::min(all.stop, d + ONE_BY_ONE), near);
        for (const NearMisses& own : near) {
            for (const ScoredPair& pair : own.pairs()) best.add(pair);
        }
        best.shrink();
        floor = std::max(floor, best.floor());
    }
    all.near = best.pairs();
    return all;
}

// Rows in order of their first number, which is below `count`, and of their second.
inline std::vector<ScoredPair> sort_pairs(std::span<const ScoredPair> pairs, std::size_t count) {
    std::vector<i64> places(count + 1);
    for (const ScoredPair& pair : pairs) ++places[static_cast<std::size_t>(pair.d) + 1];
    for (std::size_t d = 0; d < count; ++d) places[d + 1] += places[d];
    std::vector<ScoredPair> sorted(pairs.size());
    for (const ScoredPair& pair : pairs) sorted[static_cast<std::size_t>(places[pair.d]++)] = pair;
    // places[d] is now where the pairs of d end
    const auto by_second = [](const ScoredPair& one, const ScoredPair& other) { return one.k < other.k; };
    for (std::size_t d = 0, begin = 0; d < count; ++d) {
        const auto end = static_cast<std::size_t>(places[d]);
        if (end - begin > 1) std::sort(sorted.begin() + begin, sorted.begin() + end, by_second);
        begin = end;
    }
    return sorted;
}

}  // namespace roughly
