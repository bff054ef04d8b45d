// The first place of every key, in linear time: rows are distributed to buckets by their keys, and each bucket has a
// small hash table of its own. Both steps run on several threads, and keep the order of rows within a bucket, so the
// result is the same for any number of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "words.hpp"

namespace roughly {

struct KeyedPlace {
    u64 key;
    i64 place;
};

// Distributes 0 … n − 1 to buckets: put(i, at) is called for every i, where `at` counts the bucket's own in order, after
// all of the buckets before. Returns where each bucket begins, and n. `run` calls a body for ranges, on any threads.
template <typename Run, typename BucketOf, typename Put>
std::vector<u64> distribute(std::size_t n, std::size_t buckets, Run&& run, BucketOf&& bucket_of, Put&& put) {
    constexpr std::size_t CHUNK = 1 << 16;
    const std::size_t chunks = (n + CHUNK - 1) / CHUNK;
    std::vector<u64> next(chunks * buckets);
    run(n, CHUNK, [&](std::size_t begin, std::size_t end) {
        u64* own = next.data() + begin / CHUNK * buckets;
        for (std::size_t i = begin; i < end; i++) own[bucket_of(i)]++;
    });
    std::vector<u64> begins(buckets + 1);
    u64 at = 0;
    for (std::size_t b = 0; b < buckets; b++) {
        begins[b] = at;
        for (std::size_t c = 0; c < chunks; c++) {
            const u64 count = next[c * buckets + b];
            next[c * buckets + b] = at;
            at += count;
        }
    }
    begins[buckets] = at;
    run(n, CHUNK, [&](std::size_t begin, std::size_t end) {
        u64* own = next.data() + begin / CHUNK * buckets;
        for (std::size_t i = begin; i < end; i++) put(i, own[bucket_of(i)]++);
    });
    return begins;
}

// Keys and the row with which each came first.
class FirstRows {
public:
    explicit FirstRows(std::size_t rows) : slots_(std::bit_ceil(2 * std::clamp<std::size_t>(rows, 8, 4096))) {}

    // The first row with this key; `row` if there was none.
    u64 first(u64 key, u64 row) {
        Slot& slot = find(key);
        if (slot.next_row != 0) return slot.next_row - 1;
        slot = {key, row + 1};
        if (2 * ++used_ > slots_.size()) grow();
        return row;
    }

private:
    struct Slot {
        u64 key = 0, next_row = 0;  // 1 + the row; 0: free
    };

    Slot& find(u64 key) {
        const u64 mask = slots_.size() - 1;
        u64 at = spread(key) & mask;
        while (slots_[at].next_row != 0 && slots_[at].key != key) at = (at + 1) & mask;
        return slots_[at];
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.next_row != 0) find(slot.key) = slot;
        }
    }

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
};

// Replaces the key of every row by the place of the first row with that key.
template <typename Run>
void first_places(std::span<KeyedPlace> rows, Run&& run) {
    constexpr std::size_t ROWS = 1 << 14;  // of a bucket whose table is in the cache
    const std::size_t buckets = std::bit_ceil(std::clamp<std::size_t>(rows.size() / ROWS, 1, 4096));
    std::vector<KeyedPlace> sorted(rows.size());  // keys and rows
    const std::vector<u64> begins = distribute(
        rows.size(), buckets, run, [&](std::size_t i) { return rows[i].key & (buckets - 1); },
        [&](std::size_t i, u64 at) { sorted[at] = {rows[i].key, static_cast<i64>(i)}; });
    run(buckets, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t b = begin; b < end; b++) {
            FirstRows known(begins[b + 1] - begins[b]);
            for (u64 at = begins[b]; at < begins[b + 1]; at++) {
                const u64 row = static_cast<u64>(sorted[at].place), first = known.first(sorted[at].key, row);
                rows[row].key = static_cast<u64>(rows[first].place);
            }
        }
    });
}

}  // namespace roughly
