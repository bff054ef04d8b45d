// Which documents share a key: a filter of two bits per slot, a sort of what passes it, and buckets.
//
// Most documents of a collection resemble no other, and so most keys occur once. Sorting them all to find that out is
// the most expensive step of grouping. Instead, each key sets a bit of `once` at its slot, or of `twice` where that is
// set already. A key whose slot is not in `twice` occurs once, for certain; with eight slots per key about one in eight
// of the unshared ones passes by chance and is dropped by the sort that follows.
//
// A row is a key and a member (a u32 that names a document). Keys are spread by a multiplication first, so that
// samples of the smallest hashes fill all slots, and so that a share of all keys can be taken by their highest bits:
// rows outside of share number `share` of 2^bits are skipped. The key 0 is no key.
//
// All arithmetic on keys is unsigned and wraps around.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "buffer.hpp"
#include "sorting.hpp"
#include "words.hpp"

namespace roughly {

inline constexpr u32 NO_MEMBER = 0xFFFFFFFF;
inline constexpr u64 GOLDEN = 0x9E3779B97F4A7C15;
inline constexpr u64 MOST_SORT_BITS = 22;

// A bijection that moves the differences between keys into their highest bits.
inline constexpr u64 spread_key(u64 key) { return (key ^ key >> 32) * GOLDEN; }

// One of 2^bits equal shares of all spread keys.
struct Share {
    i64 number;
    u64 bits;

    bool has(u64 x) const { return bits == 0 || static_cast<i64>(x >> (64 - bits)) == number; }
};

// A bit per slot. The slot of a key are the highest bits of what is left of it below its share.
template <typename Word>
struct KeyFilter {
    std::span<Word> words;
    u64 shift;

    explicit KeyFilter(std::span<Word> set)
        : words(set), shift(58 - static_cast<u64>(std::bit_width(std::bit_ceil(set.size())) - 1)) {}

    struct Slot {
        std::size_t word;
        u64 bit;
    };
    Slot slot(u64 x) const { return {x >> shift >> 6, u64{1} << (x >> shift & 63)}; }
    bool has(u64 x) const {
        const Slot at = slot(x);
        return (words[at.word] & at.bit) != 0;
    }
};

// Calls found(i, x) with x = spread_key(keys[i]) for the rows of a share whose key is one, in order.
template <typename Found>
void for_each_row(std::span<const u64> keys, std::span<const u32> members, Share share, Found&& found) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const u64 x = spread_key(keys[i]);
        if (keys[i] == 0 || members[i] == NO_MEMBER || !share.has(x)) continue;
        found(i, x);
    }
}

// Marks the keys of a share.
inline void mark_keys(std::span<const u64> keys, std::span<const u32> members, Share share, std::span<u64> once,
                      std::span<u64> twice) {
    const KeyFilter<u64> filter(once);
    for_each_row(keys, members, share, [&](std::size_t, u64 x) {
        const auto at = filter.slot(x << share.bits);
        if (once[at.word] & at.bit) {
            twice[at.word] |= at.bit;
        } else {
            once[at.word] |= at.bit;
        }
    });
}

// The number of rows that `select_shared` would return.
inline i64 count_shared(std::span<const u64> keys, std::span<const u32> members, Share share,
                        std::span<const u64> twice) {
    const KeyFilter<const u64> filter(twice);
    i64 count = 0;
    for_each_row(keys, members, share, [&](std::size_t, u64 x) { count += filter.has(x << share.bits); });
    return count;
}

struct KeyRows {
    Buffer<u64> keys;
    Buffer<u32> members;
};

// The rows of a share, and of one part of that, whose keys may occur more than once, with their keys spread.
inline KeyRows select_shared(std::span<const u64> keys, std::span<const u32> members, Share share,
                             std::span<const u64> twice, Share part) {
    const KeyFilter<const u64> filter(twice);
    KeyRows rows{Buffer<u64>(keys.size()), Buffer<u32>(keys.size())};
    std::size_t used = 0;
    for_each_row(keys, members, share, [&](std::size_t i, u64 x) {
        if (!part.has(x << share.bits) || !filter.has(x << share.bits)) return;
        rows.keys[used] = x;
        rows.members[used] = members[i];
        ++used;
    });
    rows.keys.truncate(used);  // few of many: a share is made of the rows of all files
    rows.members.truncate(used);
    return rows;
}

// Whether each key may be among those marked in `marks` (the `once` of `mark_keys` without shares).
inline void find_marked(std::span<const u64> keys, std::span<const u64> marks, std::span<bool> out) {
    const KeyFilter<const u64> filter(marks);
    for (std::size_t i = 0; i < keys.size(); ++i) out[i] = filter.has(spread_key(keys[i]));
}

struct KeyRow {
    u64 key;
    u32 member;
    auto operator<=>(const KeyRow&) const = default;
};

// Sorts rows that are stored in two arrays.
class RowSorter {
public:
    void sort(std::span<u64> keys, std::span<u32> members) {
        const std::size_t n = keys.size();
        if (is_sorted(keys, members)) return;
        if (keys.front() == keys.back() && std::all_of(keys.begin(), keys.end(), [&](u64 x) { return x == keys[0]; })) {
            std::sort(members.begin(), members.end());  // a hot key alone: no copy of its rows is needed
            return;
        }
        rows_.resize(std::max(rows_.size(), n));
        for (std::size_t i = 0; i < n; ++i) rows_[i] = {keys[i], members[i]};
        if (n <= CROWDED) {
            insertion_sort(rows_.data(), rows_.data() + n);
        } else {
            std::sort(rows_.data(), rows_.data() + n);
        }
        for (std::size_t i = 0; i < n; ++i) {
            keys[i] = rows_[i].key;
            members[i] = rows_[i].member;
        }
    }

private:
    static bool is_sorted(std::span<const u64> keys, std::span<const u32> members) {
        for (std::size_t i = 1; i < keys.size(); ++i) {
            if (keys[i - 1] > keys[i] || (keys[i - 1] == keys[i] && members[i - 1] > members[i])) return false;
        }
        return true;
    }

    std::vector<KeyRow> rows_;
};

// Rows in order of (spread key, member), by a counting pass over the highest bits that differ. `bits` highest bits are
// the same for all keys. `Count` must hold the number of rows.
template <typename Count>
KeyRows sort_rows_counted(std::span<const u64> keys, std::span<const u32> members, u64 bits) {
    const std::size_t n = keys.size();
    const u64 width = std::clamp<u64>(n < 2 ? 1 : bit_length(n - 1), 1, MOST_SORT_BITS), shift = 64 - width;
    const std::size_t buckets = std::size_t{1} << width;
    std::vector<Count> ends(buckets + 1);
    for (const u64 key : keys) ends[(key << bits >> shift) + 1] += 1;
    for (std::size_t b = 0; b < buckets; ++b) ends[b + 1] += ends[b];
    KeyRows rows{Buffer<u64>(n), Buffer<u32>(n)};
    for (std::size_t i = 0; i < n; ++i) {
        const Count place = ends[keys[i] << bits >> shift]++;
        rows.keys[place] = keys[i];
        rows.members[place] = members[i];
    }
    RowSorter sorter;
    Count start = 0;
    for (std::size_t b = 0; b < buckets; ++b) {
        const Count end = ends[b];
        if (end - start > 1) {
            sorter.sort(rows.keys.span().subspan(start, end - start), rows.members.span().subspan(start, end - start));
        }
        start = end;
    }
    return rows;
}

inline KeyRows sort_rows(std::span<const u64> keys, std::span<const u32> members, u64 bits) {
    if (keys.size() <= std::numeric_limits<u32>::max()) return sort_rows_counted<u32>(keys, members, bits);
    return sort_rows_counted<u64>(keys, members, bits);
}

// SplitMix64's finaliser, of a member.
inline constexpr u64 hash_member(u32 member) {
    u64 x = member + GOLDEN;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

struct KeyBuckets {
    std::vector<u32> sizes;
    Buffer<u32> members;
    std::vector<u64> hashes;  // of the members of each, whatever their order
    i64 too_common = 0;       // keys left out
};

// The buckets of sorted rows. A bucket has two members or more, and at most `most`, if that is not 0. With `probing`
// the lowest bit of a member says whether it is a probe, and a bucket needs one that is.
inline KeyBuckets find_buckets(std::span<const u64> keys, std::span<const u32> members, bool probing, i64 most) {
    const std::size_t n = keys.size();
    KeyBuckets found;
    found.members.resize(n);
    std::size_t used = 0;
    for (std::size_t i = 0, end = 0; i < n; i = end) {
        end = i + 1;
        u32 any = members[i];
        for (; end < n && keys[end] == keys[i]; ++end) any |= members[end];
        const std::size_t size = end - i;
        if (most > 0 && static_cast<i64>(size) > most) {
            found.too_common += 1;
        } else if (size > 1 && (!probing || (any & 1) != 0)) {
            u64 total = 0;
            for (std::size_t j = i; j < end; ++j) {
                found.members[used++] = members[j];
                total += hash_member(members[j]);
            }
            found.sizes.push_back(static_cast<u32>(size));
            found.hashes.push_back(total);
        }
    }
    found.members.truncate(used);
    return found;
}

// Whether each hash is new to the table (open addressing, a power of two long, 0 for empty), which takes it.
inline void add_to_table(std::span<const u64> hashes, std::span<u64> table, std::span<bool> is_new) {
    const u64 mask = table.size() - 1;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        const u64 x = hashes[i] != 0 ? hashes[i] : 1;
        u64 at = spread_key(x) >> 20 & mask;
        while (table[at] != 0 && table[at] != x) at = (at + 1) & mask;
        is_new[i] = table[at] == 0;
        table[at] = x;
    }
}

// The members of the buckets that are used.
inline Buffer<u32> members_of_used(std::span<const u32> sizes, std::span<const u32> members,
                                   std::span<const bool> is_used) {
    Buffer<u32> out(members.size());
    std::size_t used = 0, at = 0;
    for (std::size_t b = 0; b < sizes.size(); ++b) {
        if (is_used[b]) {
            std::copy_n(members.data() + at, sizes[b], out.data() + used);
            used += sizes[b];
        }
        at += sizes[b];
    }
    out.truncate(used);
    return out;
}

// Adds to counts[m + 1] for every member m.
inline void count_members(std::span<const u32> members, std::span<i64> counts) {
    for (const u32 member : members) {
        const std::size_t place = std::size_t{member} + 1;
        if (place >= counts.size()) throw std::invalid_argument("every member needs a count");
        counts[place] += 1;
    }
}

// Members of buckets, or buckets of members: row r has columns[offsets[r]:offsets[r + 1]], ascending.
struct Transposed {
    Buffer<i64> offsets;
    Buffer<u32> columns;
    Buffer<bool> flags;
};

// Parts that rows are cut into when threads transpose: each reads all members, so a few cost more than they save.
inline constexpr unsigned LEAST_PARTS = 4, MOST_PARTS = 16;

// From members by bucket to buckets by member, or the other way round. `flags` are reordered in the same way if there
// are any. `loop(n, chunk, body)` runs a body over 0 … n − 1 on all threads; each takes the members of its own range.
template <typename Loop>
Transposed transpose(std::span<const i64> starts, std::span<const u32> members, std::span<const bool> flags,
                     std::size_t rows, unsigned threads, Loop&& loop) {
    Transposed out{Buffer<i64>(rows + 1), Buffer<u32>(members.size()), Buffer<bool>(flags.size())};
    std::fill_n(out.offsets.data(), rows + 1, i64{0});
    if (!members.empty() && *std::max_element(members.begin(), members.end()) >= rows) {
        throw std::invalid_argument("every member needs a row");
    }
    const std::size_t parts = threads < LEAST_PARTS ? 1 : std::min(threads, MOST_PARTS);
    const auto first_of = [&](std::size_t part) { return static_cast<u32>(part * rows / parts); };
    loop(parts, std::size_t{1}, [&](std::size_t part, std::size_t, unsigned) {
        const u32 low = first_of(part), count = first_of(part + 1) - low;
        for (const u32 member : members) {
            if (member - low < count) out.offsets[std::size_t{member} + 1] += 1;
        }
    });
    for (std::size_t row = 0; row < rows; ++row) out.offsets[row + 1] += out.offsets[row];
    loop(parts, std::size_t{1}, [&](std::size_t part, std::size_t, unsigned) {
        const u32 low = first_of(part), count = first_of(part + 1) - low;
        std::vector<i64> places(out.offsets.data() + low, out.offsets.data() + low + count);
        for (std::size_t bucket = 0; bucket + 1 < starts.size(); ++bucket) {
            for (i64 i = starts[bucket]; i < starts[bucket + 1]; ++i) {
                const u32 row = members[i] - low;
                if (row >= count) continue;
                const i64 place = places[row]++;
                out.columns[place] = static_cast<u32>(bucket);
                if (!flags.empty()) out.flags[place] = flags[i];
            }
        }
    });
    return out;
}

}  // namespace roughly
