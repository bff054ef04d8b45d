// The runs of tokens that two sequences share, in any order.
//
// The left sequence a is scanned from its start. Wherever `size` tokens of it (a gram) occur in the right sequence b,
// the longest run of equal tokens from there is used, is extended backwards, and the scan continues after it. Grams
// of b are listed by slot of a hash table,
//
//     gram(x)  h = t_x;  h ← (h ⊕ h ≫ 29)·M + t_{x+y}  for y = 1 … size − 1
//     slot(h)  (h·M ≫ 32) mod slots,  slots = the least power of two ≥ 2·grams, at least 4
//
// so the list of one slot is short. If a list is longer than TRIED, the TRIED positions nearest to where the last run
// would continue are tried. Which those are depends on the other entries of the slot, so neither the hash nor the
// number of slots may change without changing the answer. Hashes only propose: a run has been compared token by token.
//
// Token hashes are uint64 and wrap around; positions in a sequence fit uint32, which is checked.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "words.hpp"

namespace roughly::alignment {

using Tokens = std::span<const u64>;

// a[left : left + length] equals b[right : right + length].
struct Block {
    i64 left, right, length;

    i64 left_end() const { return left + length; }
    i64 right_end() const { return right + length; }
};

// Part of both sequences: a[i : i_end] and b[j : j_end].
struct Gap {
    i64 i, i_end, j, j_end;

    bool operator==(const Gap&) const = default;
};

// Scratch memory that is kept from one use to the next; its contents are undefined.
template <typename T>
class Room {
public:
    T* of(std::size_t size) {
        if (held_.size() < size) held_ = std::vector<T>(std::max(size, 2 * held_.size()));
        return held_.data();
    }

private:
    std::vector<T> held_;
};

// How many of the first `most` tokens are equal. Most often the first one already differs.
inline i64 equal_tokens(const u64* a, const u64* b, i64 most) {
    if (most <= 0 || a[0] != b[0]) return 0;
    i64 n = 1;
    for (; n + 4 <= most; n += 4) {
        if (((a[n] ^ b[n]) | (a[n + 1] ^ b[n + 1]) | (a[n + 2] ^ b[n + 2]) | (a[n + 3] ^ b[n + 3])) != 0) break;
    }
    while (n < most && a[n] == b[n]) n++;
    return n;
}

// Positions are kept in 32 bits, with room for the steps that edit scripts take past the end.
inline void refuse_long(Tokens tokens) {
    constexpr std::size_t MOST = 0x7FFFF000;
    if (tokens.size() > MOST) throw std::length_error("a document has too many tokens to be compared: split it");
}

class SharedRuns {
public:
    static constexpr i64 TRIED = 16;

    // Runs of `size` ≥ 1 equal tokens or more, rising and disjoint on the left; valid until the next call.
    const std::vector<Block>& find(Tokens a, Tokens b, i64 size) {
        runs_.clear();
        refuse_long(a);
        refuse_long(b);
        const i64 na = std::ssize(a), nb = std::ssize(b);
        if (na < size || nb < size) return runs_;
        list_by_slot(b, size);
        i64 i = 0, end_a = 0, end_b = 0;
        while (i <= na - size) {
            const std::size_t s = slot(a.data() + i, size);
            const std::span<const u32> listed(places_ + starts_[s], places_ + starts_[s + 1]);
            auto [j, length] = longest_run(a, b, i, listed, end_b + i - end_a);
            if (length < size) {
                ++i;
                continue;
            }
            while (i > end_a && j > 0 && a[static_cast<std::size_t>(i - 1)] == b[static_cast<std::size_t>(j - 1)]) {
                --i;
                --j;
                ++length;
            }
            runs_.push_back({i, j, length});
            i += length;
            end_a = i;
            end_b = j + length;
        }
        return runs_;
    }

private:
    static constexpr u64 MULTIPLIER = 0x9E3779B97F4A7C15u;

    struct Run {
        i64 j, length;
    };

    // The slot of the gram that starts at t. The grams of b are hashed one by one, those of a only where the walk
    // stops.
    u32 slot(const u64* t, i64 size) const {
        u64 h = t[0];
        for (i64 y = 1; y < size; ++y) h = (h ^ (h >> 29)) * MULTIPLIER + t[y];
        return static_cast<u32>((h * MULTIPLIER) >> 32) & mask_;
    }

    // Counting sort of b's gram positions: slot s has places_[starts_[s]] … places_[starts_[s + 1] − 1], rising.
    void list_by_slot(Tokens b, i64 size) {
        const i64 grams = std::ssize(b) - size + 1;
        const std::size_t slots = std::max<std::size_t>(4, std::bit_ceil(2 * static_cast<std::size_t>(grams)));
        mask_ = static_cast<u32>(slots - 1);
        starts_ = starts_room_.of(slots + 2);
        places_ = places_room_.of(static_cast<std::size_t>(grams));
        u32* slot_of = slots_room_.of(static_cast<std::size_t>(grams));
        std::fill_n(starts_, slots + 2, 0u);
        u32* ends = starts_ + 1;  // while listing, ends[s] runs from the start of slot s to its end
        for (i64 y = 0; y < grams; ++y) {
            slot_of[y] = slot(b.data() + y, size);
            ++ends[std::size_t{slot_of[y]} + 1];
        }
        for (std::size_t s = 0; s < slots; ++s) ends[s + 1] += ends[s];
        for (i64 y = 0; y < grams; ++y) places_[ends[slot_of[y]]++] = static_cast<u32>(y);
    }

    // Where in b, and how long, the longest run from a[i] on is; ties by distance to `expected`.
    static Run longest_run(Tokens a, Tokens b, i64 i, std::span<const u32> listed, i64 expected) {
        if (std::ssize(listed) > TRIED) {
            const auto at = std::lower_bound(listed.begin(), listed.end(), expected,
                                             [](u32 place, i64 x) { return place < x; });
            const i64 low = std::min<i64>(at - listed.begin() - TRIED / 2, std::ssize(listed) - TRIED);
            listed = listed.subspan(static_cast<std::size_t>(std::max<i64>(low, 0)), TRIED);
        }
        Run best{0, 0};
        for (const i64 j : listed) {
            const i64 most = std::min(std::ssize(a) - i, std::ssize(b) - j);
            if (most < best.length) continue;
            const i64 length = equal_tokens(a.data() + i, b.data() + j, most);
            if (length > best.length ||
                (length == best.length && distance(j, expected) < distance(best.j, expected))) {
                best = {j, length};
            }
        }
        return best;
    }

    static i64 distance(i64 x, i64 y) { return x < y ? y - x : x - y; }

    Room<u32> starts_room_, places_room_, slots_room_;
    u32* starts_ = nullptr;
    u32* places_ = nullptr;
    u32 mask_ = 0;
    std::vector<Block> runs_;
};

}  // namespace roughly::alignment
