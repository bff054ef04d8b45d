// Pairs that would join two components: the remaining comparisons once each removed document has its witness.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "resolve.hpp"
#include "words.hpp"

namespace roughly {

struct Bridges {
    std::vector<CandidatePair> pairs;
    i64 bucket, place;  // to continue from
};

// Pairs (d, k), d > k, of documents that share a bucket and are not yet in one component.
//
// Starts at document `place` of `bucket` and stops after the document that fills `limit` pairs. The bucket after the
// last one means that all are done. roots[d] names the component of document d.
inline Bridges find_bridges(i64 bucket, i64 place, std::span<const i64> bucket_offsets,
                            std::span<const u32> bucket_docs, std::span<const i32> roots, i64 limit) {
    Bridges found{{}, bucket, place};
    const auto buckets = static_cast<i64>(bucket_offsets.size()) - 1;
    std::vector<u64> order;  // root above, document below: documents of one component side by side
    for (; found.bucket < buckets; ++found.bucket, found.place = 0) {
        const i64 start = bucket_offsets[found.bucket], size = bucket_offsets[found.bucket + 1] - start;
        order.clear();
        for (const u32 doc : bucket_docs.subspan(start, size)) {
            order.push_back(static_cast<u64>(static_cast<i64>(roots[doc])) << 32 | doc);
        }
        std::sort(order.begin(), order.end());
        i64 group = 0;  // where the component of document i begins
        for (i64 i = 0; i < size; ++i) {
            if (order[i] >> 32 != order[group] >> 32) group = i;
            if (i < found.place) continue;
            const auto a = static_cast<u32>(order[i]);
            for (i64 j = 0; j < group; ++j) {
                const auto b = static_cast<u32>(order[j]);
                found.pairs.push_back({static_cast<i32>(std::max(a, b)), static_cast<i32>(std::min(a, b))});
            }
            if (static_cast<i64>(found.pairs.size()) >= limit) {
                found.place = i + 1;
                return found;
            }
        }
    }
    found.place = 0;
    return found;
}

}  // namespace roughly
