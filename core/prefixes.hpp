// The rarest values of each set: two similar sets certainly share one of them (the prefix-filter principle).
//
// If two sets share c values or more, then in any order of values that is the same for all sets the first shared one is
// among the first n − c + 1 of each (Chaudhuri 2006; Bayardo 2007; Xiao 2008). The order here is from rare to common:
// by hashed count, then by value. A value whose count is one occurs nowhere else and is left out. Any order works, so a
// collision of hashed counts, or a count that stops at 255, costs time and never a pair.
//
// | measure           | prefix of the larger set     | prefix of the smaller set              |
// |-------------------|------------------------------|----------------------------------------|
// | resemblance ≥ t   | n − ⌈t·n⌉ + 1 values         | n − ⌈2t/(1 + t)·n⌉ + 1 values          |
// | containment ≥ t   | all values                   | n − ⌈t·n⌉ + 1 values                   |
//
// The smaller set needs fewer, since two sets of n values, or n and more, must share 2t/(1 + t)·n of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

#include "buffer.hpp"
#include "judging.hpp"
#include "prefetch.hpp"
#include "words.hpp"

namespace roughly {

// The slot of a value among 2^k hashed counts: its k highest bits.
struct CountSlots {
    u64 shift;  // 64 − k; 64 where there is one slot only

    explicit CountSlots(std::size_t counts) : shift(64 - static_cast<u64>(std::bit_width(std::bit_ceil(counts)) - 1)) {}
    std::size_t operator()(u64 value) const { return shift == 64 ? 0 : value >> shift; }
};

// Adds to `counts` (a power of two long) how often each value occurs, by the high bits of its hash. A count of one byte
// stops at 255.
template <typename Count>
void count_hashed(std::span<const u64> values, std::span<Count> counts) {
    constexpr bool stops = sizeof(Count) == 1;
    const CountSlots slot(counts.size());
    const std::size_t n = values.size(), ahead = 2 * PREFETCH_DISTANCE;
    for (std::size_t i = 0; i < n; ++i) {
        if (i + ahead < n) prefetch_to_write(&counts[slot(values[i + ahead])]);
        Count& count = counts[slot(values[i])];
        if (!stops || count != static_cast<Count>(-1)) ++count;
    }
}

struct PrefixKeys {
    std::vector<u64> keys;
    std::vector<i64> owners;
};

// Sets whose prefixes are found at a time.
inline constexpr std::size_t SETS_AT_ONCE = 256;

// The prefix of each set: its n − ⌈least shared⌉ + 1 rarest values, those that may recur, in order, with their owners.
// `loop(n, chunk, body)` runs a body over 0 … n − 1 on all threads.
template <typename Loop>
PrefixKeys prefix_keys(std::span<const u64> values, std::span<const i64> offsets, std::span<const u32> counts,
                       Measure measure, double threshold, Loop&& loop) {
    const CountSlots slot(counts.size());
    const Measure own = measure == Measure::resemblance ? Measure::containment : measure;
    const std::size_t sets = offsets.size() - 1;
    std::vector<PrefixKeys> parts(sets / SETS_AT_ONCE + 1);
    loop(sets, SETS_AT_ONCE, [&](std::size_t begin, std::size_t end, unsigned) {
        PrefixKeys& part = parts[begin / SETS_AT_ONCE];
        std::vector<u64> order;  // count above, place below
        for (std::size_t d = begin; d < end; ++d) {
            const i64 start = offsets[d], n = offsets[d + 1] - start;
            if (n == 0) continue;
            const i64 length = std::min(n, n - needed(n, 0, own, threshold) + 1);
            if (length <= 0) continue;
            order.resize(static_cast<std::size_t>(n));
            for (i64 i = 0; i < n; ++i) {
                order[i] = u64{counts[slot(values[start + i])]} << 32 | static_cast<u64>(i);
            }
            if (length < n) std::nth_element(order.begin(), order.begin() + length, order.end());
            std::sort(order.begin(), order.begin() + length);
            for (i64 i = 0; i < length; ++i) {
                if (order[i] >> 32 <= 1) continue;
                part.keys.push_back(values[start + static_cast<i64>(order[i] & 0xFFFFFFFF)]);
                part.owners.push_back(static_cast<i64>(d));
            }
        }
    });
    PrefixKeys found = std::move(parts.front());
    for (auto part = parts.begin() + 1; part < parts.end(); ++part) {
        found.keys.insert(found.keys.end(), part->keys.begin(), part->keys.end());
        found.owners.insert(found.owners.end(), part->owners.begin(), part->owners.end());
    }
    return found;
}

// The first values of one set in the order of counts: those with a count below `count`, and `of_those` of the
// ones that have just that count, the smallest first.
class Cut {
public:
    Cut(const std::array<i64, 256>& counted, i64 length) : left_(0) {
        i64 below = 0;
        while (count_ < 256 && below + counted[count_] <= length) below += counted[count_++];
        if (count_ < 256 && length > below) left_ = length - below;
    }
    // Whether the next value, which has this count, is inside. Values must come in ascending order.
    bool takes(u8 count) { return count < count_ || (count == count_ && left_-- > 0); }

private:
    int count_ = 0;
    i64 left_;
};

// The role of each value: 0 outside of the prefix, 1 in the longer prefix of a set only, 2 in both.
//
// For containment the two are one, and the flag is 2. Values that occur once have 0.
inline Buffer<u8> prefix_flags(std::span<const u64> values, std::span<const i64> offsets, std::span<const u8> counts,
                               Measure measure, double threshold) {
    const CountSlots slot(counts.size());
    Buffer<u8> out(values.size());
    std::fill_n(out.data(), values.size(), u8{0});
    for (std::size_t d = 0; d + 1 < offsets.size(); ++d) {
        const i64 start = offsets[d], n = offsets[d + 1] - start;
        if (n == 0) continue;
        const i64 longer = n - needed(n, 0, Measure::containment, threshold) + 1;
        const i64 shorter =
            measure == Measure::resemblance ? n - needed(n, n, Measure::resemblance, threshold) + 1 : longer;
        std::array<i64, 256> counted{};
        u8* flags = out.data() + start;
        for (i64 i = 0; i < n; ++i) {
            flags[i] = counts[slot(values[start + i])];
            ++counted[flags[i]];
        }
        Cut in_longer(counted, longer), in_shorter(counted, shorter);
        for (i64 i = 0; i < n; ++i) {
            const u8 count = flags[i];
            const bool lies_in_longer = in_longer.takes(count), lies_in_shorter = in_shorter.takes(count);
            flags[i] = count <= 1 || !lies_in_longer ? 0 : lies_in_shorter ? 2 : 1;
        }
    }
    return out;
}

}  // namespace roughly
