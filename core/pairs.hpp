// All pairs of documents that share a bucket, each once, for experiments that count them.
//
// Resolution never forms them (see resolve.hpp): a bucket of n documents has n·(n − 1)/2.
#pragma once

#include <span>
#include <vector>

#include "joining.hpp"
#include "words.hpp"

namespace roughly {

struct WidePair {
    i64 d, k;
};

struct SharingPairs {
    std::vector<WidePair> pairs;
    i64 next;  // document
};

// Pairs (d, k), k < d, of documents from `start` on that share a bucket. Stops after the document that fills `limit`
// pairs.
inline SharingPairs find_sharing_pairs(i64 start, const Incidence& incidence, i64 limit) {
    SharingPairs found{{}, start};
    const auto documents = static_cast<i64>(incidence.doc_offsets.size()) - 1;
    std::vector<i64> last_seen(static_cast<std::size_t>(documents), -1);
    i64& d = found.next;
    for (; d < documents && static_cast<i64>(found.pairs.size()) < limit; ++d) {
        for (i64 at = incidence.doc_offsets[d]; at < incidence.doc_offsets[d + 1]; ++at) {
            const i64 bucket = incidence.doc_buckets[at];
            for (i64 place = incidence.bucket_offsets[bucket]; place < incidence.bucket_offsets[bucket + 1]; ++place) {
                const i64 k = incidence.bucket_docs[place];
                if (k >= d) break;
                if (last_seen[k] == d) continue;
                last_seen[k] = d;
                found.pairs.push_back({d, k});
            }
        }
    }
    return found;
}

}  // namespace roughly
