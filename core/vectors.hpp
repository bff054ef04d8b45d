// Term vectors (Conrad 2003, §7): the rarest terms of a document filled up to one size, and their first few as keys.
//
// A document of m < n terms repeats them, rarest first, until it has n entries; the r-th repeat of a term t is an entry
// of its own, mix(t + r·A). So two short documents that share a part of their terms share about that part of their
// entries.
//
// All vectors have n entries, so two of them that share at least k must share one of the first n − k + 1 in any order
// that is the same for all: the order here is by document frequency, rarest first, then by value. Those are the keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "hashing.hpp"
#include "words.hpp"

namespace roughly {

struct TermVectors {
    Buffer<u64> vectors;  // `size` entries per document, ascending
    Buffer<u64> keys;     // `prefix` entries per document
};

// A term's entry, or that of its r-th repeat.
inline u64 vector_entry(u64 term, u64 repeat) { return repeat == 0 ? term : mix(term + repeat * A); }

// The vectors of these documents, which have counts[d] ≥ 1 terms, found[d·size …], of these frequencies.
inline TermVectors term_vectors(const u64* found, const u64* frequencies, const i64* counts,
                                std::span<const i64> documents, std::size_t size, std::size_t prefix) {
    TermVectors out{Buffer<u64>(documents.size() * size), Buffer<u64>(documents.size() * prefix)};
    std::vector<std::pair<u64, u64>> entries(size);  // frequency, entry
    for (std::size_t row = 0; row < documents.size(); row++) {
        const auto d = static_cast<std::size_t>(documents[row]);
        const auto m = std::min(static_cast<std::size_t>(counts[d]), size);
        for (std::size_t j = 0, term = 0, repeat = 0; j < size; j++) {
            entries[j] = {frequencies[d * size + term], vector_entry(found[d * size + term], repeat)};
            if (++term == m) {
                term = 0;
                repeat++;
            }
        }
        std::sort(entries.begin(), entries.end());
        u64* vector = out.vectors.data() + row * size;
        for (std::size_t j = 0; j < size; j++) vector[j] = entries[j].second;
        std::copy_n(vector, prefix, out.keys.data() + row * prefix);
        std::sort(vector, vector + size);
    }
    return out;
}

}  // namespace roughly
