// The connected components of the candidate graph: documents that a chain of shared buckets connects.
//
// Components do not affect each other, so they are resolved in parallel. Documents are ordered by component, the one
// with the most work first, and by rank within it: a component is then a range.
//
// Threads join documents in one forest, where a root is only ever linked to a smaller one. So the root of a component
// is its smallest document in the end, whichever thread was first.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "matrix.hpp"
#include "words.hpp"

namespace roughly {

class SharedForest {
public:
    explicit SharedForest(std::size_t nodes) : parents_(new std::atomic<u32>[nodes]) {
        for (std::size_t node = 0; node < nodes; ++node) parents_[node].store(static_cast<u32>(node), RELAXED);
    }

    u32 root(u32 node) {
        for (;;) {
            u32 parent = parents_[node].load(RELAXED);
            if (parent == node) return node;
            const u32 above = parents_[parent].load(RELAXED);
            if (above != parent) parents_[node].compare_exchange_weak(parent, above, RELAXED);  // a shorter path
            node = above;
        }
    }

    void join(u32 one, u32 other) {
        for (;;) {
            one = root(one);
            other = root(other);
            if (one == other) return;
            if (one < other) std::swap(one, other);
            u32 expected = one;
            if (parents_[one].compare_exchange_strong(expected, other, RELAXED)) return;
        }
    }

private:
    static constexpr auto RELAXED = std::memory_order_relaxed;  // a link is all that is needed
    std::unique_ptr<std::atomic<u32>[]> parents_;
};

// The smallest document of each document's component. `links` has rows of two documents.
template <typename Loop>
Buffer<i32> find_linked_roots(Matrix<const i32> links, std::size_t documents, Loop&& loop) {
    SharedForest forest(documents);
    loop(static_cast<std::size_t>(links.rows), std::size_t{1} << 14, [&](std::size_t begin, std::size_t end, unsigned) {
        for (auto i = static_cast<i64>(begin); i < static_cast<i64>(end); ++i) {
            forest.join(static_cast<u32>(links.row(i)[0]), static_cast<u32>(links.row(i)[1]));
        }
    });
    Buffer<i32> roots(documents);
    for (std::size_t d = 0; d < documents; ++d) roots[d] = static_cast<i32>(forest.root(static_cast<u32>(d)));
    return roots;
}

struct CandidateComponents {
    Buffer<i64> order;      // the documents
    std::vector<i64> cuts;  // component c has order[cuts[c]:cuts[c + 1]]
    std::vector<i64> work;  // pairs of documents that share a bucket, counted once per bucket
};

// `bucket_starts` counts the documents of the buckets. `loop(n, chunk, body)` runs a body over 0 … n − 1 on all
// threads.
template <typename Loop>
CandidateComponents find_candidate_components(std::span<const i64> doc_offsets, std::span<const u32> doc_buckets,
                                              std::span<const i64> bucket_starts, Loop&& loop) {
    constexpr u32 NONE = std::numeric_limits<u32>::max();
    constexpr auto RELAXED = std::memory_order_relaxed;
    const std::size_t documents = doc_offsets.size() - 1, buckets = bucket_starts.size() - 1;
    SharedForest forest(documents);
    const std::unique_ptr<std::atomic<u32>[]> anchors(new std::atomic<u32>[buckets]);  // a document of each bucket
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) anchors[bucket].store(NONE, RELAXED);
    loop(documents, std::size_t{1} << 12, [&](std::size_t begin, std::size_t end, unsigned) {
        for (std::size_t d = begin; d < end; ++d) {
            for (i64 at = doc_offsets[d]; at < doc_offsets[d + 1]; ++at) {
                u32 anchor = NONE;
                std::atomic<u32>& place = anchors[doc_buckets[at]];
                if (!place.compare_exchange_strong(anchor, static_cast<u32>(d), RELAXED)) {
                    forest.join(static_cast<u32>(d), anchor);
                }
            }
        }
    });

    std::vector<u32> number(documents);  // of the component, by its smallest document
    std::vector<i64> sizes, work;
    for (std::size_t d = 0; d < documents; ++d) {
        const u32 root = forest.root(static_cast<u32>(d));
        number[d] = root == d ? static_cast<u32>(sizes.size()) : number[root];
        if (root == d) sizes.push_back(0);
        ++sizes[number[d]];
    }
    work.assign(sizes.size(), 0);
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
        const u32 anchor = anchors[bucket].load(RELAXED);
        const i64 size = bucket_starts[bucket + 1] - bucket_starts[bucket];
        if (anchor != NONE) work[number[anchor]] += size * (size - 1) / 2;
    }

    std::vector<u32> sorted(sizes.size());
    std::iota(sorted.begin(), sorted.end(), u32{0});
    std::stable_sort(sorted.begin(), sorted.end(), [&](u32 one, u32 other) { return work[one] > work[other]; });
    CandidateComponents found{Buffer<i64>(documents), std::vector<i64>(sizes.size() + 1), {}};
    found.work.reserve(sizes.size());
    std::vector<i64> next(sizes.size());
    for (std::size_t c = 0; c < sorted.size(); ++c) {
        next[sorted[c]] = found.cuts[c];
        found.cuts[c + 1] = found.cuts[c] + sizes[sorted[c]];
        found.work.push_back(work[sorted[c]]);
    }
    for (std::size_t d = 0; d < documents; ++d) {
        found.order[static_cast<std::size_t>(next[number[d]]++)] = static_cast<i64>(d);
    }
    return found;
}

// The buckets of each document, and their flags, if there are any, with the documents in this order.
struct ReorderedBuckets {
    Buffer<i64> doc_offsets;
    Buffer<u32> doc_buckets;
    Buffer<bool> flags;
};

template <typename Loop>
ReorderedBuckets reorder_buckets(std::span<const i64> doc_offsets, std::span<const u32> doc_buckets,
                                 std::span<const bool> flags, std::span<const i64> order, Loop&& loop) {
    ReorderedBuckets found{Buffer<i64>(order.size() + 1), Buffer<u32>(doc_buckets.size()), Buffer<bool>(flags.size())};
    i64* offsets = found.doc_offsets.data();
    offsets[0] = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        offsets[i + 1] = offsets[i] + doc_offsets[order[i] + 1] - doc_offsets[order[i]];
    }
    loop(order.size(), std::size_t{1} << 12, [&](std::size_t begin, std::size_t end, unsigned) {
        for (std::size_t i = begin; i < end; ++i) {
            const i64 from = doc_offsets[order[i]], count = offsets[i + 1] - offsets[i];
            std::copy_n(doc_buckets.data() + from, count, found.doc_buckets.data() + offsets[i]);
            if (!flags.empty()) std::copy_n(flags.data() + from, count, found.flags.data() + offsets[i]);
        }
    });
    return found;
}

}  // namespace roughly
