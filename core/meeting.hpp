// Which contents of an index a query is to be compared with: those that share a key with it, each once.
//
// Entries list, key by key, the contents that have a key that is queried; a row of the queries' keys names a range of
// them. Where 20,000 pages with one boilerplate are stored, each new one finds all of them. So this loop is over
// entries, touches a content once per query, and at once drops those whose size and bitmap show that they are too
// different.
//
// | symbol | meaning                                                                                            |
// |--------|----------------------------------------------------------------------------------------------------|
// | m, n   | distinct values of the query's set and of the content's                                            |
// | h      | bits in which their bitmaps differ; they differ in at least as many values (bitmaps.hpp)           |
// | t      | the threshold                                                                                      |
//
// With c values in common they differ in m + n − 2c ≥ h, so c ≤ (m + n − h) / 2. A resemblance of t needs
// h ≤ (m + n)(1 − t) / (1 + t); a containment of t, of whichever is the smaller, h ≤ m + n − 2·t·min(m, n).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "judging.hpp"
#include "matrix.hpp"
#include "popcount.hpp"
#include "prefetch.hpp"
#include "words.hpp"

namespace roughly {

// Keys of the queries, sorted by query: owners[i] has a key whose entries are low[i] … high[i] − 1.
struct KeyRanges {
    std::span<const i64> owners;
    std::span<const bool> is_probe;  // the query looks for it, and is not only found by it
    std::span<const i64> low;
    std::span<const i64> high;
};

// The contents that have the keys, as rows of `Contents`.
struct Entries {
    std::span<const i64> places;
    std::span<const bool> is_probe;
};

struct Contents {
    std::span<const i64> numbers;
    std::span<const i64> sizes;
    Matrix<const u64> bitmaps;
};

struct Queries {
    std::span<const i64> before;  // only contents with smaller numbers count
    std::span<const i64> equal;   // this content does not count
    std::span<const i64> sizes;
    Matrix<const u64> bitmaps;
    std::span<const bool> is_unlisted;  // in no entry itself; counts in addition
};

struct CandidateFilter {
    Measure measure;
    double threshold;   // 0: sizes and bitmaps rule nothing out
    i64 most_sharing;   // a key of more texts makes no pairs; 0: no limit
    bool counts_all;    // all texts with the key count, not only those before the query
};

struct StoredCandidate {
    i64 query;
    i64 place;     // of the content
    i64 shared;    // keys
    i64 is_probe;  // 1 if the query looks for a shared key, + 2 if the content does
    i64 differ;    // h, at least
};

class StoredCandidates {
public:
    StoredCandidates(const KeyRanges& ranges, const Entries& entries, const Contents& contents,
                     const Queries& queries, const CandidateFilter& filter)
        : ranges_(ranges), entries_(entries), contents_(contents), queries_(queries), filter_(filter) {}

    // Each pair once, by query.
    std::vector<StoredCandidate> find() {
        seen_.assign(contents_.numbers.size(), Seen{-1, -1});
        const std::size_t rows = ranges_.owners.size();
        for (std::size_t row = 0; row < rows;) {
            const i64 owner = ranges_.owners[row];
            for (; row < rows && ranges_.owners[row] == owner; ++row) {
                if (!is_too_common(row)) add_entries(row, owner);
            }
        }
        return std::move(found_);
    }

private:
    // The last query that saw a content, and its position among the candidates; −1 if it was ruled out.
    struct Seen {
        i64 owner, candidate;
    };

    bool counts(i64 number, i64 owner) const {
        return number < queries_.before[owner] && number != queries_.equal[owner];
    }

    bool is_too_common(std::size_t row) const {
        if (filter_.most_sharing <= 0) return false;
        const i64 owner = ranges_.owners[row];
        if (filter_.counts_all) {
            const i64 others = ranges_.high[row] - ranges_.low[row];
            return others + (queries_.is_unlisted[owner] ? 1 : 0) > filter_.most_sharing;
        }
        i64 count = 1;
        for (i64 at = ranges_.low[row]; at < ranges_.high[row]; ++at) {
            const bool looks = ranges_.is_probe[row] || entries_.is_probe[at];
            count += looks && counts(contents_.numbers[entries_.places[at]], owner);
        }
        return count > filter_.most_sharing;
    }

    void add_entries(std::size_t row, i64 owner) {
        const i64 high = ranges_.high[row];
        const bool mine = ranges_.is_probe[row];
        for (i64 at = ranges_.low[row]; at < high; ++at) {
            if (at + PREFETCH_DISTANCE < high) prefetch_content(entries_.places[at + PREFETCH_DISTANCE]);
            const bool theirs = entries_.is_probe[at];
            if (!mine && !theirs) continue;
            const i64 place = entries_.places[at];
            const i64 flags = static_cast<i64>(mine) | static_cast<i64>(theirs) << 1;
            Seen& seen = seen_[place];
            if (seen.owner == owner) {
                if (seen.candidate >= 0) {
                    found_[seen.candidate].shared += 1;
                    found_[seen.candidate].is_probe |= flags;
                }
                continue;
            }
            if (!counts(contents_.numbers[place], owner)) continue;
            seen = {owner, -1};
            i64 differ = 0;
            if (filter_.threshold > 0.0) {
                const double allowed = may_differ_in(queries_.sizes[owner], contents_.sizes[place]);
                differ = least_difference(owner, place, allowed);
                if (static_cast<double>(differ) > allowed) continue;
            }
            seen.candidate = static_cast<i64>(found_.size());
            found_.push_back({owner, place, 1, flags, differ});
        }
    }

    double may_differ_in(i64 m, i64 n) const {
        const double t = filter_.threshold;
        const auto both = static_cast<double>(m + n);
        if (filter_.measure == Measure::resemblance) return both * (1.0 - t) / (1.0 + t) + 1.0;  // rounding
        return both - 2.0 * t * static_cast<double>(std::min(m, n)) + 1.0;
    }

    // h, or as much of it as shows that it is more than `allowed`.
    i64 least_difference(i64 owner, i64 place, double allowed) const {
        const i64 apart = queries_.sizes[owner] - contents_.sizes[place];
        const i64 h = apart < 0 ? -apart : apart;
        if (static_cast<double>(h) > allowed) return h;
        const u64 bits =
            differing_bits(queries_.bitmaps.row(owner), contents_.bitmaps.row(place), contents_.bitmaps.width);
        return std::max(h, static_cast<i64>(bits));
    }

    void prefetch_content(i64 place) const {
        prefetch_to_write(&seen_[place]);
        prefetch(&contents_.numbers[place]);
        prefetch(&contents_.sizes[place]);
        prefetch(contents_.bitmaps.row(place));
    }

    const KeyRanges& ranges_;
    const Entries& entries_;
    const Contents& contents_;
    const Queries& queries_;
    const CandidateFilter& filter_;
    std::vector<Seen> seen_;
    std::vector<StoredCandidate> found_;
};

}  // namespace roughly
