// The distinct terms of documents, and the rarest of them.
//
// `distinct_terms` keeps each token of a document once, in the order of first occurrence, with the position of that
// occurrence. A small table of open addressing is emptied for each document; it has at least two slots per token, so
// only malice makes it slow.
//
// Terms are ordered by how rare they are through one number, the *rarity*,
//
//     rarity(t) = (2^32 − 1 − df(t)) · 2^32 + (h(t) >> 32)            uint64
//
// which rises as the document frequency df falls; terms of one frequency are in the order of their hashes h. So an
// idf of at least x, a share of the rarest terms of a document and the n rarest of them are all ranges of rarity. A
// term that is not in the lexicon, df = 0, has no rarity and is left out.
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

// Finds the distinct tokens of one document after another: a table of open addressing that is emptied each time.
class DistinctTable {
public:
    // For documents of up to this number of tokens.
    explicit DistinctTable(u64 most) : slots_(std::size_t{2} << std::bit_width(most)) {}

    // Puts the distinct tokens into `terms` in the order of first occurrence; returns their number. Calls first(i,
    // place) for each token i that is new, and again(place) for each that is at terms[place] already.
    template <typename First, typename Again>
    u32 fill(std::span<const u64> document, u64* terms, First&& first, Again&& again) {
        const std::size_t size = std::size_t{2} << std::bit_width(document.size()), mask = size - 1;
        u32* slots = slots_.data();
        mask_ = mask;
        std::fill_n(slots, size, 0);
        u32 found = 0;
        for (std::size_t i = 0; i < document.size(); i++) {
            const u64 t = document[i];
            const std::size_t s = find(t, terms, slots, mask);
            const u32 entry = slots[s];
            if (entry != 0) {
                again(entry - 1);
                continue;
            }
            terms[found] = t;
            first(i, found);
            slots[s] = ++found;
        }
        return found;
    }

    u32 fill(std::span<const u64> document, u64* terms) {
        return fill(document, terms, [](std::size_t, u32) {}, [](u32) {});
    }

    // The position of a term of the last document in `terms`.
    u32 place_of(u64 term, const u64* terms) const { return slots_[find(term, terms, slots_.data(), mask_)] - 1; }

private:
    // The slot of a token, or the empty one where it belongs. A slot has a position in `terms` plus 1.
    static std::size_t find(u64 t, const u64* terms, const u32* slots, std::size_t mask) {
        std::size_t s = (t ^ t >> 32) & mask;
        for (u32 entry = slots[s]; entry != 0 && terms[entry - 1] != t; entry = slots[s]) s = (s + 1) & mask;
        return s;
    }

    Buffer<u32> slots_;
    std::size_t mask_ = 0;
};

struct DistinctTerms {
    Buffer<u64> terms;
    Buffer<u32> firsts;  // place of the first occurrence in its document
    Buffer<i64> offsets;
};

// The distinct tokens of each document in the order of first occurrence.
inline DistinctTerms distinct_terms(std::span<const u64> tokens, std::span<const i64> offsets) {
    const std::size_t documents = offsets.size() - 1;
    const auto total = static_cast<u64>(offsets[documents] - offsets[0]);
    DistinctTerms out{Buffer<u64>(total), Buffer<u32>(total), Buffer<i64>(documents + 1)};
    DistinctTable table(longest(offsets));
    out.offsets[0] = 0;
    u64 n = 0;
    for (std::size_t d = 0; d < documents; d++) {
        u32* firsts = out.firsts.data() + n;
        n += table.fill(
            slice(tokens, offsets, d), out.terms.data() + n,
            [=](std::size_t i, u32 place) { firsts[place] = static_cast<u32>(i); }, [](u32) {});
        out.offsets[d + 1] = static_cast<i64>(n);
    }
    out.terms.resize(n);
    out.firsts.resize(n);
    return out;
}

struct RarestTerms {
    Buffer<u64> found;   // `most` per document, rarest first; 0 if there are fewer
    Buffer<i64> places;  // position of each in `terms`; −1 if there are fewer
    Buffer<i64> counts;
};

// For each document, the `most` rarest terms with lowest ≤ rarity < highest; those of one rarity in the order of
// hashes.
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

struct TermCounts {
    Buffer<u64> terms;
    Buffer<u32> counts;
    Buffer<i64> offsets;
};

// The distinct tokens of each document in order of hash, and how often each occurs.
inline TermCounts term_counts(std::span<const u64> tokens, std::span<const i64> offsets) {
    const std::size_t documents = offsets.size() - 1;
    const auto total = static_cast<u64>(offsets[documents] - offsets[0]);
    TermCounts out{Buffer<u64>(total), Buffer<u32>(total), Buffer<i64>(documents + 1)};
    const u64 room = longest(offsets);
    DistinctTable table(room);
    Buffer<u64> seen(room);
    Buffer<u32> times(room), scratch(SORT_COUNTS);
    out.offsets[0] = 0;
    u64 used = 0;
    for (std::size_t d = 0; d < documents; d++) {
        const u32 n = table.fill(
            slice(tokens, offsets, d), seen.data(), [&](std::size_t, u32 place) { times[place] = 1; },
            [&](u32 place) { times[place]++; });
        u64* terms = out.terms.data() + used;
        sort_hashes({seen.data(), n}, terms, scratch.data());
        for (u32 i = 0; i < n; i++) out.counts[used + i] = times[table.place_of(terms[i], seen.data())];
        used += n;
        out.offsets[d + 1] = static_cast<i64>(used);
    }
    out.terms.resize(used);
    out.counts.resize(used);
    return out;
}

}  // namespace roughly
