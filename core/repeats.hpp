// Which places hold the same tokens, and which of them is kept.
//
// A *place* is a run of tokens of the collection: tokens[start : start + length]. Places are numbered in the order of
// their starts. In windows every length is `least` and places overlap; lines, sentences and paragraphs do not.
//
// Places with one key form a class, which is known by the number of its first place: firsts[i] is that of place i, and i
// itself where it occurs once. The classes of two places or more are numbered in the order of their first places, so
// tables of classes are small: a bit per place marks their first places, and the number of a class is that of the bits
// before. Keys only propose: `check_classes` compares
// the tokens of every place with those of the first one of its class. Where the places before both are known to be
// equal, one more token decides, so that a passage costs one comparison per token however often it occurs.
//
// The walk (`CopyWalk`) reads documents in the order in which they are to be kept, each from its start. A place is a
// *copy* if an equal place lies entirely before it in text that is kept; its tokens are then removed. A place counts as
// kept once the walk is past its end without having removed any of its tokens. So the place that a copy names is never
// removed itself, and the answer depends on the order of documents alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hashing.hpp"
#include "winnowing.hpp"
#include "words.hpp"

namespace roughly {

// Places of one length where lengths is empty.
struct PlaceTable {
    std::span<const i64> starts;
    std::span<const i64> lengths;
    i64 least;
    std::span<const i64> firsts;
    std::span<const u64> repeated;  // a bit per place: the first place of a class of two or more
    std::span<const u32> ranks;     // the bits before each word
    u64 classes;

    i64 length(u64 place) const { return lengths.empty() ? least : lengths[place]; }
    i64 end(u64 place) const { return starts[place] + length(place); }
    u64 first(u64 place) const { return static_cast<u64>(firsts[place]); }
    std::size_t size() const { return starts.size(); }

    bool is_repeated(u64 place) const { return has_bit(repeated, first(place)); }

    // The number of the class of a place that is repeated.
    u64 number(u64 place) const {
        const u64 at = first(place), before = (u64{1} << (at & 63)) - 1;
        const u64 found = ranks[at >> 6] + static_cast<u64>(std::popcount(repeated[at >> 6] & before));
        if (found >= classes) throw std::invalid_argument("classes must exist");
        return found;
    }

    // Whether the class of a place is one that counts.
    bool counts(u64 place, std::span<const u8> used) const { return is_repeated(place) && used[number(place)] != 0; }
};

// Marks the first places of the classes that places begin … end − 1 belong to, if they are others.
inline void mark_repeated(std::span<const i64> firsts, std::size_t begin, std::size_t end, std::span<u64> repeated) {
    for (std::size_t i = begin; i < end; i++) {
        const u64 first = static_cast<u64>(firsts[i]), bit = u64{1} << (first & 63);
        if (first == i || (__atomic_load_n(&repeated[first >> 6], __ATOMIC_RELAXED) & bit) != 0) continue;
        set_bits(repeated[first >> 6], bit);
    }
}

// Mixed hashes of the grams at starts[begin:end].
inline void gram_keys(std::span<const u32> tokens, std::span<const i64> starts, std::size_t begin, std::size_t end,
                      u64 least, u64* keys) {
    RollingHash rolling(least);
    for (std::size_t i = begin; i < end; i++) {
        const u32* t = tokens.data() + starts[i];
        const bool next = i > begin && starts[i] == starts[i - 1] + 1;
        keys[i] = mix(next ? rolling.roll(t) : rolling.begin(t));
    }
}

// Appends the places begin … end − 1 whose tokens are not those of the first place of their class.
inline void check_classes(std::span<const u32> tokens, const PlaceTable& places, std::size_t begin, std::size_t end,
                          std::vector<i64>& wrong) {
    constexpr u64 NONE = ~u64{0};
    u64 equal_to = NONE;  // the place that the one before was found to be equal to
    for (std::size_t i = begin; i < end; i++) {
        const u64 before = equal_to, first = places.first(i);
        equal_to = NONE;
        const i64 length = places.length(i);
        const u32* a = tokens.data() + places.starts[i];
        const u32* b = tokens.data() + places.starts[first];
        bool equal = length == places.length(first);
        if (equal && first != i) {
            const bool rolls = places.lengths.empty() && before != NONE && before + 1 == first &&
                               places.starts[i] == places.starts[i - 1] + 1 &&
                               places.starts[first] == places.starts[before] + 1;
            equal = rolls ? a[length - 1] == b[length - 1] : std::equal(a, a + length, b);
        }
        if (equal) equal_to = first;
        else wrong.push_back(static_cast<i64>(i));
    }
}

// What is known of each class. While classes are counted, `places` and `documents` have differences between neighbours:
// the counts are the sums of all rows up to their own. There is one row more than there are classes.
struct ClassTable {
    std::span<u32> places, documents;
    std::span<u8> breaks;  // 1: some place is not followed, one token later, by a place of the class of the next row
};

// The document that a place is in ends at this token.
inline i64 document_end(std::span<const i64> offsets, i64 start) {
    const auto end = std::upper_bound(offsets.begin(), offsets.end(), start);
    return end == offsets.end() ? std::numeric_limits<i64>::max() : *end;
}

// The first of the places after `place` − 1 that is in another document than that one.
inline std::size_t between_documents(std::span<const i64> offsets, const PlaceTable& places, std::size_t place) {
    if (place == 0 || place >= places.size()) return place;
    const i64 end = document_end(offsets, places.starts[place - 1]);
    const auto from = places.starts.begin() + static_cast<std::ptrdiff_t>(place);
    return static_cast<std::size_t>(std::lower_bound(from, places.starts.end(), end) - places.starts.begin());
}

// Counts the places begin … end − 1, which begin and end between documents; safe on several threads. Places that follow
// each other mostly have classes that do, so ranges of classes are counted.
inline void count_classes(std::span<const i64> offsets, const PlaceTable& places, std::size_t begin, std::size_t end,
                          const ClassTable& classes) {
    const auto add = [](std::span<u32> counts, u64 first, u64 last) {
        __atomic_fetch_add(&counts[first], 1u, __ATOMIC_RELAXED);
        __atomic_fetch_sub(&counts[last], 1u, __ATOMIC_RELAXED);
    };
    std::vector<std::pair<u64, u64>> ranges;  // of classes of one document
    for (std::size_t i = begin; i < end;) {
        const i64 until = document_end(offsets, places.starts[i]);
        ranges.clear();
        while (i < end && places.starts[i] < until) {
            if (!places.is_repeated(i)) {
                i++;
                continue;
            }
            const u64 first = places.number(i);
            for (u64 last = first + 1;; last++, i++) {
                if (last > places.classes) throw std::invalid_argument("classes must exist");
                const bool follows = i + 1 < end && places.first(i + 1) == places.first(i) + 1;
                if (!follows || places.starts[i + 1] != places.starts[i] + 1) {
                    __atomic_store_n(&classes.breaks[last - 1], u8{1}, __ATOMIC_RELAXED);
                }
                if (!follows || places.starts[i + 1] >= until || !places.is_repeated(i + 1)) {
                    ranges.emplace_back(first, last);
                    break;
                }
            }
            i++;
        }
        std::sort(ranges.begin(), ranges.end());
        u64 counted = 0;  // classes before this one have this document
        for (const auto& [first, last] : ranges) {
            add(classes.places, first, last);
            if (last > counted) add(classes.documents, std::max(first, counted), last);
            counted = std::max(counted, last);
        }
    }
}

// A maximal run of tokens with one list of places; `start` is its first place.
struct Passage {
    i64 start, tokens, places, documents;
};

// The passages whose first places are among begin … end − 1, which begin and end between documents. In windows, classes
// that follow each other at every one of their places belong to one passage.
inline std::vector<Passage> list_passages(const PlaceTable& places, std::span<const u8> used,
                                          std::span<const u32> counts, std::span<const u32> documents,
                                          std::span<const u8> breaks, std::size_t begin, std::size_t end) {
    std::vector<Passage> found;
    bool was_one = false;
    for (std::size_t i = begin; i < end; i++) {
        const bool is_one = places.first(i) == i && places.counts(i, used);
        if (is_one) {
            const u64 c = places.number(i);
            const bool follows = was_one && places.lengths.empty() && breaks[c - 1] == 0 && counts[c - 1] == counts[c];
            if (follows) found.back().tokens++;
            else found.push_back({places.starts[i], places.length(i), counts[c], documents[c]});
        }
        was_one = is_one;
    }
    return found;
}

// Tokens start : start + length are repeated.
struct RepeatedRun {
    i64 start, length;
};

// The maximal runs of tokens in the places begin … end − 1 of used classes, document by document; places with lengths
// are runs themselves. The places begin and end between documents.
inline std::vector<RepeatedRun> repeated_runs(std::span<const i64> offsets, const PlaceTable& places,
                                              std::span<const u8> used, std::size_t begin, std::size_t end) {
    std::vector<RepeatedRun> runs;
    i64 until = 0;  // the end of the document
    for (std::size_t i = begin; i < end; i++) {
        if (!places.counts(i, used)) continue;
        const i64 start = places.starts[i], stop = places.end(i);
        const bool is_new = start >= until;
        if (is_new) until = document_end(offsets, start);
        if (!is_new && places.lengths.empty() && runs.back().start + runs.back().length >= start) {
            runs.back().length = stop - runs.back().start;
        } else {
            runs.push_back({start, stop - start});
        }
    }
    return runs;
}

// Tokens start : start + length are removed, since those from `witness` on are equal and kept.
struct RemovedRun {
    i64 start, length, witness;
};

// The removed runs, and what is left of the repeated runs without them, which has no witness; all by start.
inline std::vector<RemovedRun> runs_with_kept(std::span<const RepeatedRun> repeated,
                                              std::span<const RemovedRun> removed) {
    std::vector<RemovedRun> rows;
    i64 covered = 0;
    std::size_t next = 0;
    const auto keep = [&](i64 until) {
        if (until > covered) rows.push_back({covered, until - covered, -1});
    };
    for (const RepeatedRun& run : repeated) {
        const i64 end = run.start + run.length;
        covered = std::max(covered, run.start);
        for (; next < removed.size() && removed[next].start < end; next++) {
            keep(removed[next].start);
            rows.push_back(removed[next]);
            covered = removed[next].start + removed[next].length;
        }
        keep(end);
        covered = std::max(covered, end);
    }
    return rows;
}

struct WalkRules {
    i64 least_left;       // a document of which fewer tokens are left is removed whole; 0: none is
    bool only_reference;  // only what occurs in a reference document is a copy
};

// What the walk has kept so far; all 0 at the start.
struct KeptPlaces {
    std::span<i64> first;  // 1 + the first kept place of each class
    std::span<u64> bits;   // a bit per place
};

// A document, tokens begin : end, with the places first … last − 1. `numbers` has the class of each place that counts,
// NO_CLASS of others.
struct WalkedDocument {
    static constexpr u32 NO_CLASS = 0xFFFFFFFF;

    i64 begin, end;
    u64 first, last;
    std::span<u32> numbers;
    bool reference;

    u32 number(u64 place) const { return numbers[place - first]; }
    bool counts(u64 place) const { return number(place) != NO_CLASS; }
};

// Writes the numbers of a document; used[c] says whether places of class c count.
inline void write_numbers(const PlaceTable& places, std::span<const u8> used, const WalkedDocument& document) {
    for (u64 i = document.first; i < document.last; i++) {
        const bool counts = places.counts(i, used);
        document.numbers[i - document.first] = counts ? static_cast<u32>(places.number(i)) : WalkedDocument::NO_CLASS;
    }
}

class CopyWalk {
public:
    // `offsets` are those of the documents.
    CopyWalk(std::span<const i64> offsets, const PlaceTable& places, WalkRules rules, KeptPlaces kept)
        : offsets_(offsets), places_(places), rules_(rules), kept_(kept) {}

    // Walks through one document; returns whether it is removed whole: it then has a witness in another document, and
    // runs that name the document itself are dropped. The removed runs are appended.
    bool walk(const WalkedDocument& document, std::vector<RemovedRun>& runs) {
        const i64 begin = document.begin, end = document.end;
        const u64 first = document.first, last = document.last;
        const bool reference = document.reference;
        document_ = document;
        const std::size_t from = runs.size();
        registered_.clear();
        waiting_ = first;
        checked_ = from;
        last_witness_ = NONE;
        i64 covered = begin, removed = 0;
        for (u64 i = first; i < last && !reference; i++) {
            if (!document_.counts(i)) continue;
            register_until(places_.starts[i], i, runs);
            const u64 witness = witness_of(i, runs, from);
            if (witness == NONE) continue;
            const i64 start = std::max(covered, places_.starts[i]), stop = places_.end(i);
            if (stop <= start) continue;
            const i64 there = places_.starts[witness] + (start - places_.starts[i]);
            if (runs.size() > from && runs.back().start + runs.back().length == start &&
                runs.back().witness + runs.back().length == there &&
                (places_.starts[witness] < there || in_one_document(there - 1, there))) {
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

    bool in_one_document(i64 token, i64 later) const {
        const auto next = std::upper_bound(offsets_.begin(), offsets_.end(), token);
        return next == offsets_.end() || later < *next;
    }
    bool is_kept(u64 place) const { return has_bit(kept_.bits, place); }

    // The kept place that a place is equal to: the one after that of the place before, if there is such a one. In windows
    // both follow by one token: which other places there are depends on the filters.
    u64 witness_of(u64 place, const std::vector<RemovedRun>& runs, std::size_t from) const {
        if (runs.size() > from && last_witness_ != NONE && place == last_place_ + 1) {
            const u64 next = last_witness_ + 1;
            const bool adjoins = !places_.lengths.empty() || places_.starts[place] == places_.starts[place - 1] + 1;
            if (adjoins && next < places_.size() && next != place && is_kept(next) &&
                places_.first(next) == places_.first(place) &&
                places_.starts[next] - places_.starts[last_witness_] == places_.starts[place] - places_.starts[place - 1]) {
                return next;
            }
        }
        return static_cast<u64>(kept_.first[document_.number(place)]) - 1;
    }

    // Registers the places that end at or before `until` and of which no token is removed.
    void register_until(i64 until, u64 before, const std::vector<RemovedRun>& runs) {
        if (rules_.only_reference && until != std::numeric_limits<i64>::max()) return;
        for (; waiting_ < before && places_.end(waiting_) <= until; waiting_++) {
            if (!document_.counts(waiting_)) continue;
            while (checked_ < runs.size() && runs[checked_].start + runs[checked_].length <= places_.starts[waiting_]) {
                checked_++;
            }
            if (checked_ < runs.size() && runs[checked_].start < places_.end(waiting_)) continue;
            kept_.bits[waiting_ >> 6] |= u64{1} << (waiting_ & 63);
            i64& first = kept_.first[document_.number(waiting_)];
            if (first == 0) first = static_cast<i64>(waiting_ + 1);
            registered_.push_back(waiting_);
        }
    }

    void forget(u64 place) {
        kept_.bits[place >> 6] &= ~(u64{1} << (place & 63));
        i64& first = kept_.first[document_.number(place)];
        if (first == static_cast<i64>(place + 1)) first = 0;
    }

    std::span<const i64> offsets_;
    PlaceTable places_;
    WalkRules rules_;
    KeptPlaces kept_;
    WalkedDocument document_{};
    std::vector<u64> registered_;
    u64 waiting_ = 0, checked_ = 0, last_place_ = 0, last_witness_ = NONE;
};

}  // namespace roughly
