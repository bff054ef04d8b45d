// I-Match signatures: a document's terms, those that a lexicon keeps, and one hash of them per lexicon.
//
// What a filter keeps is a range of rarity (see terms.hpp), fixed or by shares of the document's own terms, or all but
// that range. From the terms kept, S, each of the 1 + K lexicons makes one signature, all in one pass:
//
//     x(t)  = mix(h(t) ⊕ s₀)                                  a term, keyed
//     m(t)  = mix(x(t) + s₁)                                  what it adds to a signature
//     w_j(t) = mix(x(t) + s_{2+j})                            sixteen random bits for each of lexicons 4j + 1 … 4j + 4
//     lexicon k drops t  ⇔  its sixteen bits of w_{(k−1)/4}(t) are below p·2^16
//     signature_k = mix(Σ m(t) ⊕ mix(⊕ m(t) + |S_k|·A + k·B))  over the t in S_k
//
// Sum and exclusive or do not depend on the order of the terms, so nothing has to be sorted. s₀, s₁, … come from the
// secret key. All arithmetic is on uint64 and wraps around. A signature of fewer than `min_terms` terms, or of less
// than a share `min_share` of the document's distinct terms, is rejected: it is 0, and no signature that counts is.
//
// With `secondary`, terms rarer than the range are added, the most frequent first, while there are too few (Kołcz 2008,
// §3); each lexicon adds those that it has not dropped.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "hashing.hpp"
#include "terms.hpp"
#include "words.hpp"

namespace roughly {

// Which terms a filter keeps. By idf: lowest ≤ rarity < highest. By document: of its n known terms, the most frequent
// first, those from position ⌊lowest·n/100⌋ to before ⌊(highest·n + rounding)/100⌋. `outer`: all the others.
struct TermSelection {
    bool by_document;
    u64 lowest, highest, rounding;
    bool outer;
};

// The conditions of a valid signature.
struct SignatureDemands {
    i64 min_terms;
    double min_share;
    bool secondary;
};

struct LexiconSums {
    u64 total = 0, parity = 0, size = 0;

    void add(u64 value) {
        total += value;
        parity ^= value;
        size++;
    }

    // The signature; never 0.
    u64 finish(u64 lexicon) const {
        const u64 h = mix(total ^ mix(parity + size * A + lexicon * B));
        return h != 0 ? h : 1;
    }
};

class ImatchSigner {
public:
    static constexpr u64 SEEDS = 2;             // seeds that come before those of the random bits
    static constexpr u64 FIELDS = 4;            // lexicons per word of random bits
    static constexpr u64 ALL_TERMS = 1 << 20;   // replaces the lexicon's number in the signature of all terms

    // A lexicon drops a term whose sixteen bits are below `cut`. `room`: the most terms of a document.
    ImatchSigner(TermSelection selection, SignatureDemands demands, std::span<const u64> seeds, u64 lexicons, u64 cut,
                 std::size_t room)
        : selection_(selection), demands_(demands), seeds_(seeds), lexicons_(lexicons),
          words_((lexicons + FIELDS - 1) / FIELDS), cut_(cut), room_(room), ranks_(room), kept_(room + 1), more_(room),
          added_(room), draws_(words_ * room), sums_(1 + FIELDS * words_) {}

    // The 1 + lexicons signatures of one document into `out`, which must be zeros.
    void sign(std::span<const u64> terms, std::span<const u32> frequencies, u64* out) {
        u64 low = selection_.lowest, high = selection_.highest;
        if (selection_.by_document) std::tie(low, high) = find_places(terms, frequencies);
        const u64 count = select(terms, frequencies, low, high);
        const u64 extra = demands_.secondary ? select_rarer(terms, frequencies, high) : 0;
        const i64 needed = std::max(demands_.min_terms, share_of(terms.size()));
        if (static_cast<i64>(count + extra) < needed) return;
        draw(kept_.data(), count, 0);
        draw(more_.data(), extra, count);
        add_up(count);
        for (u64 k = 0; k <= lexicons_; k++) out[k] = finish(k, count, extra, needed);
    }

    // The signature of all these terms, as if a lexicon of every term made it; 0 for no terms.
    static u64 sign_all(std::span<const u64> terms, std::span<const u64> seeds) {
        LexiconSums sums;
        for (const u64 term : terms) sums.add(mix(mix(term ^ seeds[0]) + seeds[1]));
        return terms.empty() ? 0 : sums.finish(ALL_TERMS);
    }

private:
    static constexpr u64 FIELD = 0xFFFF;

    // The number of terms that is `min_share` of `count`. 0.07 of a hundred terms is seven of them, although 0.07 · 100
    // is more than 7 in floating point.
    i64 share_of(std::size_t terms) const {
        constexpr double ROUNDING = 1e-9;
        const double share = std::ceil(demands_.min_share * static_cast<double>(terms) - ROUNDING);
        if (!(share > 0.0)) return 0;
        return share < 4e18 ? static_cast<i64>(share) : i64{4'000'000'000'000'000'000};
    }

    // The range of rarity with a share of the document's terms.
    std::pair<u64, u64> find_places(std::span<const u64> terms, std::span<const u32> frequencies) {
        u64* ranks = ranks_.data();
        u64 n = 0;
        for (std::size_t i = 0; i < terms.size(); i++) {
            if (frequencies[i] != 0) ranks[n++] = rarity(terms[i], frequencies[i]);
        }
        if (n == 0) return {0, 0};
        const auto rank = [&](u64 place) {
            if (place >= n) return ALL_BITS;
            std::nth_element(ranks, ranks + place, ranks + n);
            return ranks[place];
        };
        return {rank(selection_.lowest * n / 100), rank((selection_.highest * n + selection_.rounding) / 100)};
    }

    u64 select(std::span<const u64> terms, std::span<const u32> frequencies, u64 low, u64 high) {
        u64* kept = kept_.data();
        const bool outer = selection_.outer;
        u64 n = 0;
        for (std::size_t i = 0; i < terms.size(); i++) {
            const u64 r = rarity(terms[i], frequencies[i]);
            const bool inside = (r >= low) & (r < high);
            kept[n] = terms[i];
            n += (inside != outer) & (frequencies[i] != 0);
        }
        return n;
    }

    // The document's terms rarer than the range into more_, the most frequent first.
    u64 select_rarer(std::span<const u64> terms, std::span<const u32> frequencies, u64 high) {
        const auto is_rarer = [&](std::size_t i) {
            return frequencies[i] != 0 && rarity(terms[i], frequencies[i]) >= high;
        };
        u64 n = 0;
        for (std::size_t i = 0; i < terms.size(); i++) {
            if (is_rarer(i)) ranks_[n++] = rarity(terms[i], frequencies[i]);
        }
        std::sort(ranks_.data(), ranks_.data() + n);
        std::fill_n(more_.data(), n, u64{0});
        for (std::size_t i = 0; i < terms.size(); i++) {
            if (is_rarer(i)) put_in_place(rarity(terms[i], frequencies[i]), terms[i], n);
        }
        return n;
    }

    // Insert a term by its rarity into the sorted ranks_[:n]; terms of one rarity in the order of their hashes.
    void put_in_place(u64 r, u64 term, u64 n) {
        auto at = std::lower_bound(ranks_.data(), ranks_.data() + n, r) - ranks_.data();
        for (; more_[static_cast<std::size_t>(at)] != 0; at++) {
            u64& here = more_[static_cast<std::size_t>(at)];
            if (here > term) std::swap(here, term);
        }
        more_[static_cast<std::size_t>(at)] = term;
    }

    // What each of n terms adds to a signature, and its random bits, from place `first` on.
    void draw(const u64* terms, u64 n, u64 first) {
        const u64 *seeds = seeds_.data(), words = words_, room = room_;
        u64 *added = added_.data() + first, *draws = draws_.data() + first;
        for (u64 i = 0; i < n; i++) {
            const u64 x = mix(terms[i] ^ seeds[0]);
            added[i] = mix(x + seeds[1]);
            for (u64 j = 0; j < words; j++) draws[j * room + i] = mix(x + seeds[SEEDS + j]);
        }
    }

    // Sums over the first n terms: of all of them for lexicon 0, of those kept for the others, FIELDS in one pass.
    void add_up(u64 n) {
        const u64 *added = added_.data(), cut = cut_;
        LexiconSums whole;
        for (u64 i = 0; i < n; i++) whole.add(added[i]);
        sums_[0] = whole;
        for (u64 j = 0; j < words_; j++) {
            const u64* draws = draws_.data() + j * room_;
            u64 total[FIELDS] = {}, parity[FIELDS] = {}, size[FIELDS] = {};
            for (u64 i = 0; i < n; i++) {
                for (u64 k = 0; k < FIELDS; k++) {
                    const u64 mask = 0 - static_cast<u64>((draws[i] >> (16 * k) & FIELD) >= cut);
                    total[k] += added[i] & mask;
                    parity[k] ^= added[i] & mask;
                    size[k] -= mask;
                }
            }
            for (u64 k = 0; k < FIELDS; k++) sums_[FIELDS * j + k + 1] = {total[k], parity[k], size[k]};
        }
    }

    // The signature of one lexicon. While there are too few terms, those from `count` on are added.
    u64 finish(u64 lexicon, u64 count, u64 extra, i64 needed) const {
        LexiconSums sums = sums_[lexicon];
        for (u64 at = count; at < count + extra && static_cast<i64>(sums.size) < needed; at++) {
            if (lexicon == 0 || keeps(lexicon - 1, at)) sums.add(added_[at]);
        }
        if (sums.size == 0 || static_cast<i64>(sums.size) < needed) return 0;
        return sums.finish(lexicon);
    }

    bool keeps(u64 k, u64 at) const {
        return (draws_[k / FIELDS * room_ + at] >> (16 * (k % FIELDS)) & FIELD) >= cut_;
    }

    TermSelection selection_;
    SignatureDemands demands_;
    std::span<const u64> seeds_;
    u64 lexicons_, words_, cut_;
    std::size_t room_;
    Buffer<u64> ranks_, kept_, more_, added_, draws_;
    std::vector<LexiconSums> sums_;  // by lexicon
};

}  // namespace roughly
