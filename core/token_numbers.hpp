// Tokens by number: 32 bits in a file instead of the 64 of their hashes.
//
// A token's number is its slot in a hash table with linear probing. A table never changes its size, since that would
// change numbers: where half of the slots are used, a table of twice the size follows, and numbers go on
// there. So frequent tokens, which come early, are in the first tables.
//
// One thread adds tokens; any number of threads may look for them meanwhile. A slot is written once, so whoever finds a
// hash has its number, and whoever does not leaves the token to the thread that adds.
#pragma once

#include <bit>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "words.hpp"

namespace roughly {

class TokenNumbers {
public:
    static constexpr u32 UNKNOWN = 0xFFFFFFFF;

    // Tables of a power of two of slots each, all 0 at first; only the last is added to.
    explicit TokenNumbers(std::vector<std::span<u64>> tables) : tables_(std::move(tables)) {
        u64 slots = 0;
        for (const auto table : tables_) {
            if (!std::has_single_bit(table.size())) throw std::invalid_argument("tables have a power of two of slots");
            slots += table.size();
        }
        if (tables_.empty() || slots >= UNKNOWN) throw std::invalid_argument("there are no tables, or too many slots");
    }

    // The number of each hash, UNKNOWN where it has none.
    void find(std::span<const u64> hashes, u32* numbers) const {
        for (std::size_t i = 0; i < hashes.size(); i++) numbers[i] = find(filled(hashes[i])).number;
    }

    // Numbers what has no number, as far as the last table has room for it, where `used` slots are in use; returns how
    // many hashes are done.
    std::size_t add(std::span<const u64> hashes, u32* numbers, u64& used) {
        const std::span<u64> last = tables_.back();
        for (std::size_t i = 0; i < hashes.size(); i++) {
            if (numbers[i] != UNKNOWN) continue;
            const u64 hash = filled(hashes[i]);
            const Found found = find(hash);
            if (found.number == UNKNOWN) {
                if (2 * used >= last.size()) return i;
                __atomic_store_n(&last[found.slot], hash, __ATOMIC_RELAXED);
                used++;
            }
            numbers[i] = found.number == UNKNOWN ? static_cast<u32>(found.before + found.slot) : found.number;
        }
        return hashes.size();
    }

private:
    // `slot` is the free slot of the last table where the hash has no number, and `before` the slots of other tables.
    struct Found {
        u32 number;
        u64 before, slot;
    };

    static u64 filled(u64 hash) { return hash == 0 ? 1 : hash; }  // 0 is a free slot

    Found find(u64 hash) const {
        u64 before = 0, slot = 0;
        for (std::size_t t = 0; t < tables_.size(); t++) {
            const std::span<u64> table = tables_[t];
            const u64 mask = table.size() - 1;
            for (slot = hash & mask;; slot = (slot + 1) & mask) {
                const u64 there = __atomic_load_n(&table[slot], __ATOMIC_RELAXED);
                if (there == hash) return {static_cast<u32>(before + slot), before, slot};
                if (there == 0) break;
            }
            if (t + 1 < tables_.size()) before += table.size();
        }
        return {UNKNOWN, before, slot};
    }

    std::vector<std::span<u64>> tables_;
};

}  // namespace roughly
