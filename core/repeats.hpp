// Which places hold the same tokens, and which of them is kept.
//
// A *place* is a run of tokens of the collection: tokens[start : start + length]. Places are numbered in the order of
// their starts. In windows every length is `least` and places overlap; lines, sentences and paragraphs do not.
//
// Places with one key form a class. Keys only propose: `check_classes` compares the tokens of every place with those of
// the first one of its class. Where the places before both are known to be equal, one more token decides, so that a
// passage costs one comparison per token however often it occurs.
//
// The walk (`CopyWalk`) reads documents in the order in which they are to be kept, each from its start. A place is a
// *copy* if an equal place lies entirely before it in text that is kept; its tokens are then removed. A place counts as
// kept once the walk is past its end without having removed any of its tokens. So the place that a copy names is never
// removed itself, and the answer depends on the order of documents alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "winnowing.hpp"
#include "words.hpp"

namespace roughly {

inline constexpr u32 NO_CLASS = 0xFFFFFFFF;

// Places of one length where lengths is empty.
struct PlaceTable {
    std::span<const i64> starts;
    std::span<const i64> lengths;
    i64 least;

    i64 length(u64 place) const { return lengths.empty() ? least : lengths[place]; }
    i64 end(u64 place) const { return starts[place] + length(place); }
};

// Mixed hashes of the grams at starts[begin:end].
inline void gram_keys(std::span<const u64> tokens, std::span<const i64> starts, std::size_t begin, std::size_t end,
                      u64 least, u64* keys) {
    RollingHash rolling(least);
    for (std::size_t i = begin; i < end; i++) {
        const u64* t = tokens.data() + starts[i];
        const bool next = i > begin && starts[i] == starts[i - 1] + 1;
        keys[i] = mix(next ? rolling.roll(t) : rolling.begin(t));
    }
}

struct KeyedPlace {
    u64 key, place;

    bool operator<(const KeyedPlace& other) const {
        return key != other.key ? key < other.key : place < other.place;
    }
};

// Classes of places: class c has members[offsets[c]:offsets[c + 1]], ascending.
struct ClassList {
    std::vector<i64> members;
    std::vector<i64> sizes;
};

// The classes with two members or more of rows that are sorted.
inline void append_classes(std::span<const KeyedPlace> rows, ClassList& out) {
    for (std::size_t i = 0; i < rows.size();) {
        std::size_t end = i + 1;
        while (end < rows.size() && rows[end].key == rows[i].key) end++;
        if (end - i > 1) {
            out.sizes.push_back(static_cast<i64>(end - i));
            for (; i < end; i++) out.members.push_back(static_cast<i64>(rows[i].place));
        }
        i = end;
    }
}

// Appends the places begin … end − 1 whose tokens are not those of the first place of their class.
inline void check_classes(std::span<const u64> tokens, const PlaceTable& places, std::span<const u32> classes,
                          std::span<const i64> firsts, std::size_t begin, std::size_t end, std::vector<i64>& wrong) {
    i64 equal_to = -1;  // the place that the one before was found to be equal to
    for (std::size_t i = begin; i < end; i++) {
        const i64 before = equal_to;
        equal_to = -1;
        if (classes[i] == NO_CLASS) continue;
        const i64 first = firsts[classes[i]], length = places.length(i);
        const u64* a = tokens.data() + places.starts[i];
        const u64* b = tokens.data() + places.starts[static_cast<u64>(first)];
        bool equal = length == places.length(static_cast<u64>(first));
        if (equal && static_cast<u64>(first) != i) {
            const bool rolls = places.lengths.empty() && before >= 0 && before + 1 == first &&
                               places.starts[i] == places.starts[i - 1] + 1 &&
                               places.starts[static_cast<u64>(first)] == places.starts[static_cast<u64>(before)] + 1;
            equal = rolls ? a[length - 1] == b[length - 1] : std::equal(a, a + length, b);
        }
        if (equal) equal_to = first;
        else wrong.push_back(static_cast<i64>(i));
    }
}

// The number of documents that have a place of each of the classes begin … end − 1.
inline void count_class_documents(std::span<const i64> offsets, std::span<const i64> starts,
                                  std::span<const i64> members, std::span<const i64> class_offsets, std::size_t begin,
                                  std::size_t end, i64* counts) {
    for (std::size_t c = begin; c < end; c++) {
        i64 count = 0, stop = -1;  // where the last document that was counted ends
        for (i64 m = class_offsets[c]; m < class_offsets[c + 1]; m++) {
            const i64 start = starts[static_cast<u64>(members[static_cast<u64>(m)])];
            if (start < stop) continue;
            stop = *std::upper_bound(offsets.begin(), offsets.end(), start);
            count++;
        }
        counts[c] = count;
    }
}

// Tokens start : start + length are repeated.
struct RepeatedRun {
    i64 start, length;
};

// The maximal runs of tokens in places of used classes, document by document; places with lengths are runs themselves.
inline std::vector<RepeatedRun> repeated_runs(std::span<const i64> offsets, const PlaceTable& places,
                                              std::span<const u32> classes, std::span<const u8> used) {
    std::vector<RepeatedRun> runs;
    std::size_t d = 0;
    i64 document_end = 0;
    for (std::size_t i = 0; i < places.starts.size(); i++) {
        if (classes[i] == NO_CLASS || used[classes[i]] == 0) continue;
        const i64 start = places.starts[i], end = places.end(i);
        const bool is_new = start >= document_end;
        while (start >= document_end) document_end = offsets[++d];
        if (!is_new && places.lengths.empty() && runs.back().start + runs.back().length >= start) {
            runs.back().length = end - runs.back().start;
        } else {
            runs.push_back({start, end - start});
        }
    }
    return runs;
}

// Tokens start : start + length are removed, since those from `witness` on are equal and kept.
struct RemovedRun {
    i64 start, length, witness;
};

struct WalkRules {
    i64 least_left;       // a document of which fewer tokens are left is removed whole; 0: none is
    bool only_reference;  // only what stands in a reference document is a copy
};

class CopyWalk {
public:
    // `used[c]` says whether places of class c count.
    CopyWalk(const PlaceTable& places, std::span<const u32> classes, std::span<const u8> used, WalkRules rules)
        : places_(places), classes_(classes), used_(used), rules_(rules), first_(used.size(), NONE),
          kept_((places.starts.size() + 63) / 64) {}

    // Walks through one document, tokens begin : end, with the places first … last − 1; returns whether it is removed
    // whole: it then has a witness in another document, and runs that name the document itself are dropped. The removed
    // runs are appended.
    bool walk(i64 begin, i64 end, u64 first, u64 last, bool reference, std::vector<RemovedRun>& runs) {
        const std::size_t from = runs.size();
        registered_.clear();
        waiting_ = first;
        checked_ = from;
        last_witness_ = NONE;
        i64 covered = begin, removed = 0;
        for (u64 i = first; i < last && !reference; i++) {
            if (!counts(i)) continue;
            register_until(places_.starts[i], i, runs);
            const u64 witness = witness_of(i, runs, from);
            if (witness == NONE) continue;
            const i64 start = std::max(covered, places_.starts[i]), stop = places_.end(i);
            if (stop <= start) continue;
            const i64 there = places_.starts[witness] + (start - places_.starts[i]);
            if (runs.size() > from && runs.back().start + runs.back().length == start &&
                runs.back().witness + runs.back().length == there) {
                runs.back().length += stop - start;
            } else {
                runs.push_back({start, stop - start, there});
            }
            removed += stop - start;
            covered = stop;
            last_place_ = i;
            last_witness_ = witness;
        }
        if (removed > 0 && end - begin - removed < rules_.least_left) {
            const auto names_itself = [&](const RemovedRun& run) { return run.witness >= begin && run.witness < end; };
            const auto own = runs.begin() + static_cast<std::ptrdiff_t>(from);
            if (!std::all_of(own, runs.end(), names_itself)) {
                runs.erase(std::remove_if(own, runs.end(), names_itself), runs.end());
                for (const u64 place : registered_) forget(place);
                return true;
            }
        }
        if (reference || !rules_.only_reference) {
            register_until(std::numeric_limits<i64>::max(), last, runs);
        }
        return false;
    }

private:
    static constexpr u64 NONE = ~u64{0};

    bool counts(u64 place) const { return classes_[place] != NO_CLASS && used_[classes_[place]] != 0; }
    bool is_kept(u64 place) const { return (kept_[place >> 6] >> (place & 63) & 1) != 0; }

    // The kept place that a place is equal to: the one after that of the place before, if there is such a one.
    u64 witness_of(u64 place, const std::vector<RemovedRun>& runs, std::size_t from) const {
        if (runs.size() > from && last_witness_ != NONE && place == last_place_ + 1) {
            const u64 next = last_witness_ + 1;
            if (next < classes_.size() && next != place && is_kept(next) && classes_[next] == classes_[place] &&
                places_.starts[next] - places_.starts[last_witness_] == places_.starts[place] - places_.starts[place - 1]) {
                return next;
            }
        }
        return first_[classes_[place]];
    }

    // Registers the places that end at or before `until` and of which no token is removed.
    void register_until(i64 until, u64 before, const std::vector<RemovedRun>& runs) {
        if (rules_.only_reference && until != std::numeric_limits<i64>::max()) return;
        for (; waiting_ < before && places_.end(waiting_) <= until; waiting_++) {
            if (!counts(waiting_)) continue;
            while (checked_ < runs.size() && runs[checked_].start + runs[checked_].length <= places_.starts[waiting_]) {
                checked_++;
            }
            if (checked_ < runs.size() && runs[checked_].start < places_.end(waiting_)) continue;
            kept_[waiting_ >> 6] |= u64{1} << (waiting_ & 63);
            u64& first = first_[classes_[waiting_]];
            if (first == NONE) first = waiting_;
            registered_.push_back(waiting_);
        }
    }

    void forget(u64 place) {
        kept_[place >> 6] &= ~(u64{1} << (place & 63));
        u64& first = first_[classes_[place]];
        if (first == place) first = NONE;
    }

    PlaceTable places_;
    std::span<const u32> classes_;
    std::span<const u8> used_;
    WalkRules rules_;
    std::vector<u64> first_;  // the first kept place of each class
    std::vector<u64> kept_;   // a bit per place
    std::vector<u64> registered_;
    u64 waiting_ = 0, checked_ = 0, last_place_ = 0, last_witness_ = NONE;
};

}  // namespace roughly
