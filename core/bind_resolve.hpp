// What the bindings of resolution share: the named tuples of kernels/resolve.py, and checks of them.
#pragma once

#include "bind_rows.hpp"
#include "resolve_components.hpp"

namespace roughly {

// The named tuples of kernels/resolve.py.
struct DenseFields : Fields {
    explicit DenseFields(nb::handle tuple) : Fields(tuple, "Dense", 3) {}
    DenseBuckets view() const { return {in<i64>(0), out<i32>(1), out2<u64>(2)}; }
};

struct BucketFields : Fields {
    explicit BucketFields(nb::handle tuple) : Fields(tuple, "Joined", 9) {}
    Buckets view() const {
        Buckets buckets{in<i64>(0),  in<u32>(1),  in<bool>(2),   in<i64>(3),
                        out<u32>(4), out<u32>(5), out<u32>(6), get<i64>(7), DenseFields((*this)[8]).view()};
        require(buckets.fill.size() == buckets.kept_counts.size() && buckets.starts.size() > buckets.fill.size(),
                "every bucket needs a start, a fill and a count");
        require(buckets.is_probe.empty() || buckets.is_probe.size() == buckets.doc_buckets.size(),
                "every bucket of a document needs a flag");
        return buckets;
    }
};

struct DocumentFields : Fields {
    explicit DocumentFields(nb::handle tuple) : Fields(tuple, "Documents", 7) {}
    Documents view() const {
        return {out<u8>(0), in<i32>(1), in2<u64>(2), in2<u64>(3), get<i64>(4), in<i32>(5), in<i64>(6)};
    }
};

inline SetsView sets_view(nb::handle tuple) {
    const Fields fields(tuple, "Held", 4);
    SetsView sets{fields.in<u64>(0), fields.in<i64>(1), fields.in<u64>(2), fields.get<i64>(3)};
    require(!sets.offsets.empty() && sets.offsets.back() <= static_cast<i64>(sets.values.size()),
            "offsets must stay within the values");
    require(sets.limits.empty() || sets.limits.size() + 1 >= sets.offsets.size(), "every sample needs a limit");
    return sets;
}

// Sets of the documents from `first` on.
inline SetsAtHand sets_at_hand(nb::handle held, std::span<const i64> rows, i64 first) {
    const SetsView sets = sets_view(held);
    require_below(rows, sets.offsets.size() - 1, "rows must be numbers of sets");
    return {sets, rows, first};
}

inline ResolveLimits limits_of(nb::handle tuple) {
    const Fields fields(tuple, "Limits", 5);
    return {fields.get<double>(0), fields.get<i64>(1), fields.get<bool>(2), fields.get<i64>(3), fields.get<i64>(4)};
}

inline Rule rule_of(nb::handle tuple) {
    const Fields fields(tuple, "Rule", 4);
    return {Measure{fields.get<i64>(0)}, fields.get<double>(1), fields.get<i64>(2), fields.get<double>(3)};
}

// Refuses a range of documents that some array has no room for.
inline void require_documents(i64 start, i64 stop, const Buckets& buckets, const Documents& documents,
                       std::span<const i32> last_seen) {
    const std::size_t count = last_seen.size();
    require(start >= 0 && (stop <= start || static_cast<u64>(stop) < buckets.doc_offsets.size()),
            "documents must lie within the offsets");
    require(documents.kept.size() >= count && documents.sizes.size() >= count &&
                (documents.bitmaps.width == 0 || documents.bitmaps.rows >= static_cast<i64>(count)),
            "every document needs a size and a bitmap");
    require(stop <= static_cast<i64>(count), "every document needs a stamp");
    require((documents.days.empty() || documents.days.size() >= count) &&
                (documents.lengths.empty() || documents.lengths.size() >= count),
            "every document needs a day and a length, or none does");
    const DenseBuckets& dense = buckets.dense;
    require(dense.first.empty() || stop <= start ||
                (documents.wide.width >= dense.bitmaps.width && start >= documents.first &&
                 stop - documents.first <= documents.wide.rows),
            "every document at hand needs a wide bitmap");
}

}  // namespace roughly
