// The values that documents share, counted for all pairs of documents at once (ScanCount: Li, Lu and Lu 2008).
//
// Posting lists hold, for each value of two documents or more, the documents that have it, in ascending order. A
// document d walks the lists of its values up to itself and counts each document k < d that it meets: the count is the
// size of the intersection, so no set is compared. The cost is the sum of the squared lengths of the lists, whatever
// the threshold: for low thresholds, where filters rule out little, that is the cheapest exact way.
//
// Values must be uniform hashes: they are distributed into ranges by their first bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "buffer.hpp"
#include "judging.hpp"
#include "words.hpp"

namespace roughly {

struct ValueOwner {
    u64 value;
    u32 doc;
};

struct PostingLists {
    Buffer<u32> docs;     // the documents of all lists, one list after the other
    Buffer<i64> offsets;  // of document d: begins[offsets[d]:offsets[d + 1]] and ends
    Buffer<u32> begins;   // where the list of each value of a document begins
    Buffer<u32> ends;     // where the document itself is in that list
};

// The entries of all sets by value, equal values together and their documents in order.
inline Buffer<ValueOwner> by_value(std::span<const u64> values, std::span<const i64> offsets) {
    const std::size_t count = values.size();
    const int bits = std::clamp(static_cast<int>(std::bit_width(count / 16)), 1, 20);
    std::vector<u64> starts((std::size_t{1} << bits) + 1, 0);
    for (const u64 value : values) ++starts[(value >> (64 - bits)) + 1];
    for (std::size_t range = 1; range < starts.size(); ++range) starts[range] += starts[range - 1];
    Buffer<ValueOwner> entries(count);
    std::vector<u64> next(starts.begin(), starts.end() - 1);
    for (std::size_t d = 0; d + 1 < offsets.size(); ++d) {
        for (i64 at = offsets[d]; at < offsets[d + 1]; ++at) {
            entries[next[values[static_cast<u64>(at)] >> (64 - bits)]++] = {values[static_cast<u64>(at)], static_cast<u32>(d)};
        }
    }
    for (std::size_t range = 0; range + 1 < starts.size(); ++range) {
        std::sort(entries.data() + starts[range], entries.data() + starts[range + 1],
                  [](const ValueOwner& a, const ValueOwner& b) { return a.value != b.value ? a.value < b.value : a.doc < b.doc; });
    }
    return entries;
}

// The posting lists of sets whose values are values[offsets[0]:offsets[n]]; a value of one document has none.
inline PostingLists posting_lists(std::span<const u64> values, std::span<const i64> offsets) {
    const std::size_t documents = offsets.size() - 1;
    const Buffer<ValueOwner> entries = by_value(values, offsets);
    PostingLists lists{Buffer<u32>(entries.size()), Buffer<i64>(documents + 1), Buffer<u32>(), Buffer<u32>()};
    std::vector<i64> next(documents + 1, 0);
    const auto each_list = [&](auto&& take) {
        for (std::size_t first = 0, last = 0; first < entries.size(); first = last) {
            while (last < entries.size() && entries[last].value == entries[first].value) ++last;
            if (last - first > 1) take(first, last);
        }
    };
    u64 kept = 0;
    each_list([&](std::size_t first, std::size_t last) {
        for (std::size_t at = first; at < last; ++at) ++next[entries[at].doc + 1];
        kept += last - first;
    });
    for (std::size_t d = 0; d < documents; ++d) next[d + 1] += next[d];
    std::copy(next.begin(), next.end(), lists.offsets.data());
    lists.begins = Buffer<u32>(kept);
    lists.ends = Buffer<u32>(kept);
    u64 n = 0;
    each_list([&](std::size_t first, std::size_t last) {
        const u64 begin = n;
        for (std::size_t at = first; at < last; ++at, ++n) {
            const u32 doc = entries[at].doc;
            const auto place = static_cast<u64>(next[doc]++);
            lists.docs[n] = doc;
            lists.begins[place] = static_cast<u32>(begin);
            lists.ends[place] = static_cast<u32>(n);
        }
    });
    lists.docs.truncate(n);
    return lists;
}

struct PostingView {
    std::span<const u32> docs;
    std::span<const i64> offsets;
    std::span<const u32> begins, ends;
};

struct SharedCount {
    i32 doc, other, shared;
};

// Counts by score, for the two measures: bin b has the scores from b / BINS up to (b + 1) / BINS, the last also 1.
inline constexpr i64 SCORE_BINS = 100;

struct ScoredBlock {
    std::vector<SharedCount> pairs;
    std::vector<i64> histogram = std::vector<i64>(2 * SCORE_BINS, 0);
};

// Pairs (d, k < d) with d from `start` to stop − 1 whose resemblance reaches floors[0] or whose containment of d in k
// reaches floors[1]; and the histogram of both measures over all pairs that share a value.
inline ScoredBlock scored_block(i64 start, i64 stop, const PostingView& lists, std::span<const i64> sizes,
                                std::span<const double> floors) {
    ScoredBlock found;
    std::vector<u32> counts(static_cast<std::size_t>(std::max<i64>(stop, 1)), 0);
    const auto bin = [](double score) { return std::min(static_cast<i64>(score * SCORE_BINS + 1e-9), SCORE_BINS - 1); };
    for (i64 d = start; d < stop; ++d) {
        for (i64 at = lists.offsets[d]; at < lists.offsets[d + 1]; ++at) {
            for (u64 place = lists.begins[at]; place < lists.ends[at]; ++place) ++counts[lists.docs[place]];
        }
        for (i64 k = 0; k < d; ++k) {
            const i64 shared = counts[k];
            if (shared == 0) continue;
            counts[k] = 0;
            const double resemblance = score(shared, sizes[d], sizes[k], Measure::resemblance);
            const double containment = score(shared, sizes[d], sizes[k], Measure::containment);
            ++found.histogram[bin(resemblance)];
            ++found.histogram[SCORE_BINS + bin(containment)];
            if (resemblance >= floors[0] || containment >= floors[1]) {
                found.pairs.push_back({static_cast<i32>(d), static_cast<i32>(k), static_cast<i32>(shared)});
            }
        }
    }
    return found;
}

}  // namespace roughly
