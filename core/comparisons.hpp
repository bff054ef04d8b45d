// What a learned verdict compares: shared words with their weights, the longest shared run of shingles, and how many
// shared ones are in the same order.
//
// *Facts* of a word are one 64-bit number of three fields: a weight below 2¹⁶ in bits 0–31, a flag in bit 32 and a flag
// in bit 48. Facts of up to 2⁸ words can be added as they are; sums of more words are kept field by field.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "prefetch.hpp"
#include "sets.hpp"
#include "shingles.hpp"
#include "words.hpp"

namespace roughly {

inline constexpr u64 FACT_BITS = 0x0001'0001'0000'ffff;

// Shared values of two sets, and the sums of the three fields of their facts.
struct SharedFacts {
    i64 shared = 0, weight = 0, first = 0, second = 0;

    void add(u64 facts) {
        weight += static_cast<i64>(facts & 0xffff'ffff);
        first += static_cast<i64>(facts >> 32 & 0xffff);
        second += static_cast<i64>(facts >> 48);
    }
};

// The facts of each value: those of the same key, or `absent`. Keys are sorted hashes, so a value's key is near the
// place that its size suggests: `starts` has the first key of each range of equal highest bits. A few values are searched.
inline Buffer<u64> facts_of(std::span<const u64> values, std::span<const u64> keys, std::span<const u64> facts, u64 absent) {
    Buffer<u64> out(values.size());
    if (values.size() < keys.size() / 16) {
        for (std::size_t v = 0; v < values.size(); ++v) {
            const u64 k = first_at_least(keys.data(), 0, keys.size(), values[v]);
            out[v] = k < keys.size() && keys[k] == values[v] ? facts[k] : absent;
        }
        return out;
    }
    const auto bits = static_cast<int>(std::bit_width(keys.size() / 2)) + 1;
    std::vector<u64> starts((std::size_t{1} << bits) + 1, keys.size());
    for (std::size_t k = keys.size(); k-- > 0;) starts[keys[k] >> (64 - bits)] = k;
    for (std::size_t s = starts.size() - 1; s-- > 0;) starts[s] = std::min(starts[s], starts[s + 1]);
    for (std::size_t v = 0; v < values.size(); ++v) {
        if (v + 2 * PREFETCH_DISTANCE < values.size()) {
            prefetch(&starts[values[v + 2 * PREFETCH_DISTANCE] >> (64 - bits)]);
            const u64 next = starts[values[v + PREFETCH_DISTANCE] >> (64 - bits)];
            prefetch(keys.data() + next);
            prefetch(facts.data() + next);
        }
        const u64 range = values[v] >> (64 - bits), end = starts[range + 1];
        u64 k = starts[range];
        while (k < end && keys[k] < values[v]) ++k;
        out[v] = k < end && keys[k] == values[v] ? facts[k] : absent;
    }
    return out;
}

// The sets without values that only one of them has, as far as a filter of two bits per slot tells: intersections of two
// different sets are the same, and mostly of far smaller sets.
inline ShingleSets without_lone_values(std::span<const u64> values, std::span<const i64> offsets) {
    const std::size_t n = offsets.size() - 1;
    const auto own = values.subspan(static_cast<u64>(offsets[0]), static_cast<u64>(offsets[n] - offsets[0]));
    const u64 mask = std::bit_ceil(16 * own.size() + 64) - 1;
    std::vector<u64> once((mask + 1) / 64), again((mask + 1) / 64);
    for (const u64 value : own) {
        const u64 slot = value & mask, bit = u64{1} << (slot & 63);
        again[slot >> 6] |= once[slot >> 6] & bit;
        once[slot >> 6] |= bit;
    }
    ShingleSets sets{Buffer<u64>(own.size() + 1), Buffer<i64>(n + 1)};
    sets.offsets[0] = 0;
    u64 at = 0;
    for (std::size_t d = 0; d < n; ++d) {
        for (const u64 value : slice(values, offsets, d)) {
            const u64 slot = value & mask;
            sets.values[at] = value;
            at += again[slot >> 6] >> (slot & 63) & 1;
        }
        sets.offsets[d + 1] = static_cast<i64>(at);
    }
    sets.values.truncate(at);
    return sets;
}

// Sets are cut into lanes as in sets.hpp, `merge`.
template <int LANES>
SharedFacts merge_facts(Values values, Values facts, u64 i, u64 ie, u64 j, u64 je) {
    u64 at[LANES], end[LANES], other_at[LANES], other_end[LANES];
    for (u64 lane = 0; lane < LANES; ++lane) {
        at[lane] = i + (ie - i) * lane / LANES;
        other_at[lane] = lane == 0 ? j : first_at_least(values, j, je, values[at[lane]]);
    }
    for (int lane = 1; lane < LANES; ++lane) other_at[lane] = std::max(other_at[lane], other_at[lane - 1]);
    for (int lane = 0; lane < LANES; ++lane) {
        end[lane] = lane + 1 < LANES ? at[lane + 1] : ie;
        other_end[lane] = lane + 1 < LANES ? other_at[lane + 1] : je;
    }
    SharedFacts found;
    for (;;) {
        u64 shortest = STRIDE, before = 0, after = 0, sum = 0;
        for (int lane = 0; lane < LANES; ++lane) {
            shortest = std::min({shortest, end[lane] - at[lane], other_end[lane] - other_at[lane]});
            before += at[lane] + other_at[lane];
        }
        if (shortest == 0) break;
        for (u64 step = 0; step < shortest; ++step) {
            for (int lane = 0; lane < LANES; ++lane) {
                const u64 a = values[at[lane]], b = values[other_at[lane]];
                sum += facts[at[lane]] & (u64{0} - u64{a == b});
                at[lane] += a <= b;
                other_at[lane] += b <= a;
            }
        }
        for (int lane = 0; lane < LANES; ++lane) after += at[lane] + other_at[lane];
        found.shared += static_cast<i64>(after - before - LANES * shortest);
        found.add(sum);
    }
    for (int lane = 0; lane < LANES; ++lane) {
        for (u64 a = at[lane], b = other_at[lane]; a < end[lane] && b < other_end[lane];) {
            const u64 one = values[a], other = values[b];
            if (one == other) {
                found.shared += 1;
                found.add(facts[a]);
            }
            a += one <= other;
            b += other <= one;
        }
    }
    return found;
}

inline SharedFacts gallop_facts(Values values, Values facts, u64 i, u64 ie, u64 j, u64 je) {
    SharedFacts found;
    for (; i < ie && j < je; ++i) {
        u64 step = 1;
        while (j + step < je && values[j + step] < values[i]) {
            j += step;
            step += step;
        }
        j = first_at_least(values, j, std::min(je, j + step + 1), values[i]);
        if (j < je && values[j] == values[i]) {
            found.shared += 1;
            found.add(facts[i]);
        }
    }
    return found;
}

// What the sets left[p] and right[p] share, for each p.
inline Buffer<SharedFacts> shared_facts(std::span<const u64> values, std::span<const u64> facts,
                                        std::span<const i64> offsets, std::span<const i64> left,
                                        std::span<const i64> right) {
    Buffer<SharedFacts> out(left.size());
    for (std::size_t p = 0; p < left.size(); ++p) {
        auto a = static_cast<std::size_t>(left[p]), b = static_cast<std::size_t>(right[p]);
        if (offsets[a + 1] - offsets[a] > offsets[b + 1] - offsets[b]) std::swap(a, b);
        const auto i = static_cast<u64>(offsets[a]), ie = static_cast<u64>(offsets[a + 1]);
        const auto j = static_cast<u64>(offsets[b]), je = static_cast<u64>(offsets[b + 1]);
        if (i == ie) {
            out[p] = {};
        } else if ((ie - i) * GALLOP < je - j) {
            out[p] = gallop_facts(values.data(), facts.data(), i, ie, j, je);
        } else {
            const auto merged = ie - i < FOUR_LANES ? &merge_facts<2> : &merge_facts<4>;
            out[p] = merged(values.data(), facts.data(), i, ie, j, je);
        }
    }
    return out;
}

// A shingle of a document that is in its set: which one it is in the text, and where in the set.
struct PlacedShingle {
    u32 number, place;
};

// The shingles of documents that are in their sets, in the order of the text; found when a document is first used.
class PlacedShingles {
public:
    PlacedShingles(std::span<const u64> tokens, std::span<const i64> offsets, u64 size, std::span<const u64> values,
                   std::span<const i64> set_offsets)
        : tokens_(tokens), offsets_(offsets), values_(values), set_offsets_(set_offsets), size_(size),
          hashes_(longest(offsets)), ranges_(offsets.size()) {}

    std::span<const PlacedShingle> of(std::size_t d) {
        auto& [begin, end] = ranges_[d];
        if (begin == end) {
            const auto own = slice(tokens_, offsets_, d), set = slice(values_, set_offsets_, d);
            const u64 count = shingles(own, size_, hashes_.data());
            begin = end = all_.size();
            all_.resize(begin + count);
            for (u64 s = 0; s < count; ++s) {
                const u64 at = first_at_least(set.data(), 0, set.size(), hashes_[s]);
                all_[end] = {static_cast<u32>(s), static_cast<u32>(at)};
                end += at < set.size() && set[at] == hashes_[s];
            }
            all_.resize(end);
        }
        return {all_.data() + begin, end - begin};
    }

private:
    std::span<const u64> tokens_;
    std::span<const i64> offsets_;
    std::span<const u64> values_;
    std::span<const i64> set_offsets_;
    u64 size_;
    Buffer<u64> hashes_;
    std::vector<std::pair<std::size_t, std::size_t>> ranges_;
    std::vector<PlacedShingle> all_;
};

struct SharedRun {
    i64 shared = 0, longest = 0, in_order = 0;
};

// Shared values of the sets left[p] and right[p]; the longest run of shingles of one document that the other has (that of
// the document where it is shorter); and the most shared shingles that first occur in the same order in both.
inline Buffer<SharedRun> shared_runs(std::span<const u64> values, std::span<const i64> offsets,
                                     PlacedShingles& placed, std::span<const i64> left,
                                     std::span<const i64> right) {
    const u64 most = longest(offsets);
    std::array<Buffer<u32>, 2> partners{Buffer<u32>(most), Buffer<u32>(most)};  // places in the other set, from 1; 0: none
    Buffer<u32> firsts(most), ends(most);
    const auto run_of = [&](std::size_t d, const u32* partner) {
        i64 run = 0, best = 0;
        u32 next = 0;
        for (const PlacedShingle one : placed.of(d)) {
            run = ((run & -i64{one.number == next}) + 1) & -i64{partner[one.place] != 0};
            best = std::max(best, run);
            next = one.number + 1;
        }
        return best;
    };
    // The longest rising subsequence: ends[k] is the lowest end of one of k + 1 shingles.
    const auto in_order = [&](std::size_t a, u32* partner, std::size_t b) {
        const auto there = placed.of(b);
        for (std::size_t s = there.size(); s-- > 0;) firsts[there[s].place] = there[s].number;
        u64 length = 0;
        for (const PlacedShingle one : placed.of(a)) {
            const u32 place = std::exchange(partner[one.place], 0);
            if (place == 0) continue;
            const u32 number = firsts[place - 1];
            if (length == 0 || ends[length - 1] < number) {
                ends[length++] = number;
            } else {
                *std::lower_bound(ends.data(), ends.data() + length, number) = number;
            }
        }
        return static_cast<i64>(length);
    };
    Buffer<SharedRun> out(left.size());
    for (std::size_t p = 0; p < left.size(); ++p) {
        const auto a = static_cast<std::size_t>(left[p]), b = static_cast<std::size_t>(right[p]);
        out[p] = {intersect_at_least(values.data(), offsets[a], offsets[a + 1], offsets[b], offsets[b + 1], 0), 0, 0};
        if (out[p].shared == 0) continue;
        const auto one = slice(values, offsets, a), other = slice(values, offsets, b);
        u32 *mine = partners[0].data(), *theirs = partners[1].data();
        u64 i = 0, j = 0;
        while (i < one.size() && j < other.size()) {
            const u64 x = one[i], y = other[j];
            const u32 equal = u32{0} - u32{x == y};
            mine[i] = static_cast<u32>(j + 1) & equal;
            theirs[j] = static_cast<u32>(i + 1) & equal;
            i += x <= y;
            j += y <= x;
        }
        std::fill(mine + i, mine + one.size(), u32{0});
        std::fill(theirs + j, theirs + other.size(), u32{0});
        out[p].longest = std::min(run_of(a, mine), run_of(b, theirs));
        out[p].in_order = in_order(a, mine, b);
    }
    return out;
}

}  // namespace roughly
