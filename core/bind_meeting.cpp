// Bindings of the search in an index: which stored contents share a key with a query.

#include "bind_rows.hpp"
#include "meeting.hpp"

namespace roughly {

namespace {

// The named tuples of kernels/meeting.py.
KeyRanges ranges_of(nb::handle tuple) {
    const Fields fields(tuple, "KeyRanges", 4);
    KeyRanges ranges{fields.in<i64>(0), fields.in<bool>(1), fields.in<i64>(2), fields.in<i64>(3)};
    const std::size_t rows = ranges.owners.size();
    require(ranges.is_probe.size() == rows && ranges.low.size() == rows && ranges.high.size() == rows,
            "every key needs an owner, a flag and a range");
    return ranges;
}

Entries entries_of(nb::handle tuple) {
    const Fields fields(tuple, "Entries", 2);
    Entries entries{fields.in<i64>(0), fields.in<bool>(1)};
    require(entries.places.size() == entries.is_probe.size(), "every entry needs a flag");
    return entries;
}

Contents contents_of(nb::handle tuple) {
    const Fields fields(tuple, "Contents", 3);
    return {fields.in<i64>(0), fields.in<i64>(1), fields.in2<u64>(2)};
}

Queries queries_of(nb::handle tuple, const In<bool>& unlisted) {
    const Fields fields(tuple, "Askers", 4);
    return {fields.in<i64>(0), fields.in<i64>(1), fields.in<i64>(2), fields.in2<u64>(3), span(unlisted)};
}

CandidateFilter filter_of(nb::handle tuple) {
    const Fields fields(tuple, "Sieve", 4);
    return {Measure{fields.get<i64>(0)}, fields.get<double>(1), fields.get<i64>(2), fields.get<bool>(3)};
}

void require_index(const KeyRanges& ranges, const Entries& entries, const Contents& contents, const Queries& queries) {
    const std::size_t asking = queries.before.size();
    require(queries.equal.size() == asking && queries.sizes.size() == asking && queries.is_unlisted.size() == asking &&
                queries.bitmaps.rows == static_cast<i64>(asking),
            "every query needs a size and a bitmap");
    require(contents.sizes.size() == contents.numbers.size() &&
                contents.bitmaps.rows == static_cast<i64>(contents.numbers.size()) &&
                queries.bitmaps.width >= contents.bitmaps.width,
            "every content needs a size and a bitmap");
    require_below(ranges.owners, asking, "owners must be numbers of queries");
    require_below(entries.places, contents.numbers.size(), "places must be rows of contents");
    for (std::size_t row = 0; row < ranges.owners.size(); ++row) {
        require(0 <= ranges.low[row] && ranges.high[row] <= static_cast<i64>(entries.places.size()),
                "ranges must stay within the entries");
    }
}

}  // namespace

void bind_meeting(nb::module_& m) {
    m.def("find_stored", [](nb::handle ranges, In<bool> unlisted, nb::handle entries, nb::handle contents,
                            nb::handle askers, nb::handle sieve) {
        const KeyRanges keys = ranges_of(ranges);
        const Entries listed = entries_of(entries);
        const Contents stored = contents_of(contents);
        const Queries queries = queries_of(askers, unlisted);
        const CandidateFilter filter = filter_of(sieve);
        return rows_to_numpy<i64>(without_gil([&] {
            require_index(keys, listed, stored, queries);
            return StoredCandidates(keys, listed, stored, queries, filter).find();
        }));
    });
}

}  // namespace roughly
