// The exact join of weighted vectors: every pair whose cosine is at or above a threshold.
//
//     cosine(x, y) = Σ x_i·y_i / √(Σ x_i² · Σ y_i²)
//
// Terms are numbered from common to rare, and a vector lists its terms in that order. With x, y scaled to length one
// and x_{≤j} the part of x up to term j, Cauchy and Schwarz say that of a pair whose rarest shared term is j
//
//     cosine(x, y) ≤ ‖x_{≤j}‖ · ‖y_{≤j}‖
//
// So a vector is not indexed by its most frequent terms, as long as ‖y_{≤j}‖ is below the threshold t, and a query
// stops where ‖x_{≤j}‖ is (Bayardo 2007; Anastasiu and Karypis 2014, L2AP). The postings of a term are sorted by
// ‖y_{≤j}‖, the longest first: a query reads them until the product falls below t, and the long lists of common terms
// are hardly read at all. Nothing is added up on the way. A document that is found first by a term shares no rarer one,
// or the pair is below t; with the H = 64 most frequent terms stored as a row of numbers, its cosine is at most
//
//     x_j·y_j + ‖x_{H≤i<j}‖ · ‖y_{H≤i<j}‖ + Σ_{i<H} x_i·y_i
//
// The remaining pairs are merged from term j towards the common ones, and dropped as soon as the same bound, with what
// was found in place of x_j·y_j, falls below t. Only the few that reach the end are computed in full. Bounds have a
// margin of 10⁻⁶ and rows are rounded up, so that rounding loses no pair.
//
// Sums are double, added in the order of the terms, so the bits are the same however vectors are cut into blocks. What
// only bounds a cosine is kept as float.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "words.hpp"

namespace roughly::cosine {

inline constexpr double MARGIN = 1e-6;
inline constexpr i64 HEAD = 64;    // number of the most frequent terms stored as a row for each vector
inline constexpr i32 ONE = 32767;  // a weight of 1 in such a row

using Places = std::span<const i64>;

// Vectors scaled to length one: vector d has the places from offsets[d] to offsets[d + 1] − 1.
struct Units {
    std::span<const u32> terms;
    Places offsets;
    std::span<const float> unit;          // x_i
    std::span<const float> middle;        // ‖x_{H≤i<j}‖ of the term j at each place
    std::span<const std::int16_t> heads;  // x_i·ONE for i < H, rounded up; H numbers per vector

    const std::int16_t* head(i64 d) const { return heads.data() + d * HEAD; }
};

// By term, those with the longest ‖y_{≤j}‖ first: term j has the slots from starts[j] to starts[j + 1] − 1.
struct Postings {
    Places starts;
    std::span<const u32> docs;
    std::span<const float> through;  // ‖y_{≤j}‖
    std::span<const float> unit;     // y_j; 0 for j < H, where the rows have it
    std::span<const float> middle;   // ‖y_{H≤i<j}‖
};

struct Pair {
    i64 x, y;
};

// Σ x_i² of each vector.
inline void squares(const double* weights, Places offsets, double* out) {
    for (std::size_t d = 0; d + 1 < offsets.size(); ++d) {
        double total = 0.0;
        for (i64 i = offsets[d]; i < offsets[d + 1]; ++i) total += weights[i] * weights[i];
        out[d] = total;
    }
}

// The vectors scaled to length one. `heads` must be zeros.
inline void scale(const double* weights, const double* norms, const u32* terms, Places offsets, float* unit,
                  float* middle, std::int16_t* heads) {
    for (std::size_t d = 0; d + 1 < offsets.size(); ++d) {
        const double length = std::sqrt(norms[d]);
        double total = 0.0;
        for (i64 place = offsets[d]; place < offsets[d + 1]; ++place) {
            const double own = weights[place] / length;
            unit[place] = static_cast<float>(own);
            middle[place] = static_cast<float>(std::sqrt(total) / length);
            if (terms[place] < HEAD) {
                // written so that no number, not even one that is none, falls outside of 16 bits
                const double above = std::ceil(own * ONE);
                heads[static_cast<i64>(d) * HEAD + terms[place]] =
                    above >= ONE ? ONE : above > -ONE ? static_cast<std::int16_t>(above) : 0;
            } else {
                total += weights[place] * weights[place];
            }
        }
    }
}

// The place of the first term of each vector that must be indexed: before it, ‖y‖ is below the threshold.
inline void indexed_from(const double* weights, Places offsets, const double* norms, double threshold,
                         i64* out) {
    const double least = (threshold - MARGIN) * (threshold - MARGIN);
    for (std::size_t d = 0; d + 1 < offsets.size(); ++d) {
        double total = 0.0;
        i64 place = offsets[d];
        for (; place < offsets[d + 1]; ++place) {
            total += weights[place] * weights[place] / norms[d];
            if (total >= least) break;
        }
        out[d] = place;
    }
}

// The postings of the places from `firsts` on; `starts` says where those of each term begin. Ties are in the order of
// their documents.
inline void build_index(const double* weights, const double* norms, const Units& vectors, const i64* firsts,
                        Places starts, u32* docs, float* through, float* unit, float* middle) {
    struct Entry {
        float through;
        u32 doc;
        i64 place;
    };
    std::vector<Entry> entries(static_cast<std::size_t>(starts.back()));
    std::vector<i64> at(starts.begin(), starts.end());
    for (std::size_t d = 0; d + 1 < vectors.offsets.size(); ++d) {
        const double length = std::sqrt(norms[d]);
        double total = 0.0;
        for (i64 place = vectors.offsets[d]; place < vectors.offsets[d + 1]; ++place) {
            total += weights[place] * weights[place];
            if (place < firsts[d]) continue;
            const auto slot = static_cast<std::size_t>(at[vectors.terms[static_cast<std::size_t>(place)]]++);
            entries[slot] = {static_cast<float>(std::sqrt(total) / length), static_cast<u32>(d), place};
        }
    }
    for (std::size_t term = 0; term + 1 < starts.size(); ++term) {
        const auto first = entries.begin() + starts[term], last = entries.begin() + starts[term + 1];
        std::stable_sort(first, last, [](const Entry& a, const Entry& b) { return a.through > b.through; });
        for (i64 slot = starts[term]; slot < starts[term + 1]; ++slot) {
            const Entry& entry = entries[static_cast<std::size_t>(slot)];
            const auto place = static_cast<std::size_t>(entry.place);
            const bool in_row = static_cast<i64>(term) < HEAD;
            docs[slot] = entry.doc;
            through[slot] = entry.through;
            unit[slot] = in_row ? 0.0f : vectors.unit[place];
            middle[slot] = in_row ? 0.0f : vectors.middle[place];
        }
    }
}

// At least Σ x_i·y_i of the terms i < H. Whole numbers of 32 bits: (ONE + √H)² < 2³¹, so they cannot overflow.
inline double head_product(const std::int16_t* x, const std::int16_t* y) {
    i32 total = 0;
    for (i64 i = 0; i < HEAD; ++i) total += static_cast<i32>(x[i]) * static_cast<i32>(y[i]);
    return static_cast<double>(total) / (ONE * ONE);
}

// Whether the pair may reach `least`: `total` has the terms below H and the one at `place` of x; those between are
// merged, the rare ones first.
inline bool may_reach(const Units& asking, i64 x, i64 place, const Units& held, i64 y,
                      double total, double least) {
    const u32* terms = asking.terms.data();
    const u32* others = held.terms.data();
    const auto ux = static_cast<std::size_t>(x), uy = static_cast<std::size_t>(y);
    const i64 start_x = asking.offsets[ux], start_y = held.offsets[uy];
    i64 i = place - 1;
    i64 j = std::lower_bound(others + start_y, others + held.offsets[uy + 1], terms[place]) - others - 1;
    const auto product = [](float a, float b) { return static_cast<double>(a) * static_cast<double>(b); };
    const float* mine = asking.middle.data();
    const float* theirs = held.middle.data();
    while (i >= start_x && j >= start_y) {
        const u32 a = terms[i], b = others[j];
        if (a < HEAD || b < HEAD) break;
        if (a == b) {
            total += product(asking.unit[static_cast<std::size_t>(i)], held.unit[static_cast<std::size_t>(j)]);
            --i;
            --j;
        } else if (a > b) {
            if (total + product(mine[i], theirs[j + 1]) < least) return false;
            --i;
        } else {
            if (total + product(mine[i + 1], theirs[j]) < least) return false;
            --j;
        }
    }
    return total >= least;
}

// Pairs (x, y) that may reach the threshold, x from start to stop − 1 of the queries (`asking`), y of the indexed
// vectors (`held`); and the number of pairs that share a term. Query x has the number first + x among the indexed
// vectors or after them, and is paired only with lower numbers.
inline std::pair<std::vector<Pair>, i64> find_candidates(i64 start, i64 stop, i64 first, const Units& asking,
                                                         const Units& held, const Postings& postings,
                                                         double threshold) {
    const double least = threshold - MARGIN;
    std::vector<Pair> pairs;
    std::vector<i32> seen(held.offsets.size() - 1, -1);  // the last query that found y, counted from `start`
    i64 met = 0;
    for (i64 x = start; x < stop; ++x) {
        const auto ux = static_cast<std::size_t>(x);
        const i64 limit = first + x;
        const auto mark = static_cast<i32>(x - start);
        double rest = 0.0;
        for (i64 place = asking.offsets[ux]; place < asking.offsets[ux + 1]; ++place) {
            const double own = asking.unit[static_cast<std::size_t>(place)];
            rest += own * own;
        }
        for (i64 place = asking.offsets[ux + 1] - 1; place >= asking.offsets[ux]; --place) {
            const double through = std::sqrt(std::max(rest, 0.0));
            if (through < least) break;
            const double needed = least / through;
            const u32 term = asking.terms[static_cast<std::size_t>(place)];
            const double own = asking.unit[static_cast<std::size_t>(place)];
            const double middle = asking.middle[static_cast<std::size_t>(place)];
            rest -= own * own;
            for (i64 slot = postings.starts[term]; slot < postings.starts[term + std::size_t{1}]; ++slot) {
                const auto s = static_cast<std::size_t>(slot);
                if (static_cast<double>(postings.through[s]) < needed) break;
                const i64 y = postings.docs[s];
                if (y >= limit || seen[static_cast<std::size_t>(y)] == mark) continue;
                seen[static_cast<std::size_t>(y)] = mark;
                ++met;
                const double total =
                    head_product(asking.head(x), held.head(y)) + own * static_cast<double>(postings.unit[s]);
                if (total + middle * static_cast<double>(postings.middle[s]) < least) continue;
                if (may_reach(asking, x, place, held, y, total, least)) pairs.push_back({x, y});
            }
        }
    }
    return {std::move(pairs), met};
}

// Vectors as they were weighted, not scaled.
struct Weighted {
    const u32* terms;
    const double* weights;
    const i64* offsets;
    const double* norms;
};

// The cosine of each pair, at most 1.
inline void cosines(std::span<const Pair> pairs, const Weighted& one, const Weighted& other, double* out) {
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const auto [x, y] = pairs[p];
        i64 i = one.offsets[x], j = other.offsets[y];
        const i64 ie = one.offsets[x + 1], je = other.offsets[y + 1];
        double total = 0.0;
        while (i < ie && j < je) {
            const u32 a = one.terms[i], b = other.terms[j];
            if (a == b) total += one.weights[i] * other.weights[j];
            i += a <= b;
            j += b <= a;
        }
        out[p] = std::min(1.0, total / std::sqrt(one.norms[x] * other.norms[y]));
    }
}

}  // namespace roughly::cosine
