// The distinct terms of documents, and of those the rarest.
//
// `distinct_terms` leaves each token of a document once, in the order of first sight, with the place where it was first
// seen. A small table of open addressing is emptied for each document; it has at least two slots per token, so only
// malice makes it slow.
//
// Terms are ordered by how rare they are through one number, the *rarity*,
//
//     rarity(t) = (2^32 − 1 − df(t)) · 2^32 + (h(t) >> 32)            uint64
//
// which rises as the document frequency df falls; terms of one frequency stand in the order of their hashes h. So an idf
// of at least x, a share of the rarest terms of a document and the n rarest of them are all ranges of rarity. A term that
// the lexicon does not hold, df = 0, has no rarity and is left out.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "buffer.hpp"
#include "shingles.hpp"
#include "words.hpp"

namespace roughly {

// (2^32 − 1 − df) · 2^32 + (h >> 32).
inline constexpr u64 rarity(u64 term, u32 frequency) { return u64{~frequency} << 32 | term >> 32; }

struct DistinctTerms {
    Buffer<u64> terms;
    Buffer<u32> firsts;   // place of the first occurrence in its document
    Buffer<i64> offsets;
};

// The distinct tokens of each document in the order of first sight.
inline DistinctTerms distinct_terms(std::span<const u64> tokens, std::span<const i64> offsets) {
    const std::size_t documents = offsets.size() - 1;
    const auto total = static_cast<u64>(offsets[documents] - offsets[0]);
    DistinctTerms out{Buffer<u64>(total), Buffer<u32>(total), Buffer<i64>(documents + 1)};
    Buffer<u32> slots(std::size_t{2} << std::bit_width(longest(offsets)));
    out.offsets[0] = 0;
    u64 n = 0;
    for (std::size_t d = 0; d < documents; d++) {
        const std::span<const u64> document = slice(tokens, offsets, d);
        const std::size_t size = std::size_t{2} << std::bit_width(document.size()), mask = size - 1;
        std::fill_n(slots.data(), size, 0);
        const u64* own = out.terms.data() + n;  // the terms of this document; a slot holds a place in them plus 1
        u32 found = 0;
        for (std::size_t i = 0; i < document.size(); i++) {
            const u64 t = document[i];
            std::size_t s = (t ^ t >> 32) & mask;
            while (slots[s] != 0 && own[slots[s] - 1] != t) s = (s + 1) & mask;
            if (slots[s] != 0) continue;
            out.terms[n + found] = t;
            out.firsts[n + found] = static_cast<u32>(i);
            slots[s] = ++found;
        }
        n += found;
        out.offsets[d + 1] = static_cast<i64>(n);
    }
    out.terms.resize(n);
    out.firsts.resize(n);
    return out;
}

struct RarestTerms {
    Buffer<u64> found;   // `most` per document, rarest first; 0 where there are fewer
    Buffer<i64> places;  // where each stands in `terms`; −1 where there are fewer
    Buffer<i64> counts;
};

// Of each document the `most` rarest terms with lowest ≤ rarity < highest; those of one rarity in the order of hashes.
inline RarestTerms rarest_terms(std::span<const u64> terms, std::span<const i64> offsets,
                                std::span<const u32> frequencies, u64 lowest, u64 highest, u64 most) {
    struct Ranked {
        u64 rarity, term;
        i64 place;
    };
    const auto rarer = [](const Ranked& a, const Ranked& b) {
        if (a.rarity != b.rarity) return a.rarity > b.rarity;
        return a.term != b.term ? a.term < b.term : a.place > b.place;
    };
    const std::size_t documents = offsets.size() - 1;
    RarestTerms out{Buffer<u64>(documents * most), Buffer<i64>(documents * most), Buffer<i64>(documents)};
    std::fill_n(out.found.data(), documents * most, u64{0});
    std::fill_n(out.places.data(), documents * most, i64{-1});
    std::vector<Ranked> ranked;
    ranked.reserve(longest(offsets));
    for (std::size_t d = 0; d < documents; d++) {
        ranked.clear();
        for (i64 i = offsets[d]; i < offsets[d + 1]; i++) {
            const auto at = static_cast<std::size_t>(i);
            const u64 r = rarity(terms[at], frequencies[at]);
            if (frequencies[at] != 0 && lowest <= r && r < highest) ranked.push_back({r, terms[at], i});
        }
        if (ranked.size() > most) {
            std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(most), ranked.end(), rarer);
            ranked.resize(most);
        }
        std::sort(ranked.begin(), ranked.end(), rarer);
        for (std::size_t k = 0; k < ranked.size(); k++) {
            out.found[d * most + k] = ranked[k].term;
            out.places[d * most + k] = ranked[k].place;
        }
        out.counts[d] = static_cast<i64>(ranked.size());
    }
    return out;
}

// The distinct tokens of each document in order of hash, and how often each occurs.
struct TermCounts {
    Buffer<u64> terms;
    Buffer<u32> counts;
    Buffer<i64> offsets;
};

inline TermCounts term_counts(std::span<const u64> tokens, std::span<const i64> offsets) {
    const std::size_t documents = offsets.size() - 1;
    const auto total = static_cast<u64>(offsets[documents] - offsets[0]);
    TermCounts out{Buffer<u64>(total), Buffer<u32>(total), Buffer<i64>(documents + 1)};
    Buffer<u64> sorted(longest(offsets));
    Buffer<u32> scratch(SORT_COUNTS);
    out.offsets[0] = 0;
    u64 used = 0;
    for (std::size_t d = 0; d < documents; d++) {
        const std::span<const u64> document = slice(tokens, offsets, d);
        if (!document.empty()) sort_hashes(document, sorted.data(), scratch.data());
        const u64 first = used;
        for (std::size_t i = 0; i < document.size(); i++) {
            if (used > first && out.terms[used - 1] == sorted[i]) {
                out.counts[used - 1]++;
            } else {
                out.terms[used] = sorted[i];
                out.counts[used++] = 1;
            }
        }
        out.offsets[d + 1] = static_cast<i64>(used);
    }
    out.terms.resize(used);
    out.counts.resize(used);
    return out;
}

}  // namespace roughly
