// Bindings of resolution and of the joins: which documents are compared, which are kept.

#include "bind_rows.hpp"
#include "bridges.hpp"
#include "joining.hpp"
#include "pairs.hpp"
#include "resolve.hpp"

namespace roughly {

namespace {

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

SetsView sets_view(nb::handle tuple) {
    const Fields fields(tuple, "Held", 4);
    SetsView sets{fields.in<u64>(0), fields.in<i64>(1), fields.in<u64>(2), fields.get<i64>(3)};
    require(!sets.offsets.empty() && sets.offsets.back() <= static_cast<i64>(sets.values.size()),
            "offsets must stay within the values");
    require(sets.limits.empty() || sets.limits.size() + 1 >= sets.offsets.size(), "every sample needs a limit");
    return sets;
}

Rule rule_of(nb::handle tuple) {
    const Fields fields(tuple, "Rule", 4);
    return {Measure{fields.get<i64>(0)}, fields.get<double>(1), fields.get<i64>(2), fields.get<double>(3)};
}

// Refuses a range of documents that some array has no room for.
void require_documents(i64 start, i64 stop, const Buckets& buckets, const Documents& documents,
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

Incidence incidence(const In<i64>& doc_offsets, const In<u32>& doc_buckets, const In<i64>& bucket_offsets,
                    const In<u32>& bucket_docs) {
    return {span(doc_offsets), span(doc_buckets), span(bucket_offsets), span(bucket_docs)};
}

void require_join(i64 start, i64 stop, const Incidence& buckets, const JoinedSets& sets, std::size_t stamps) {
    require(start >= 0 && (stop <= start || static_cast<u64>(stop) < buckets.doc_offsets.size()),
            "documents must lie within the offsets");
    require(sets.sizes.size() + 1 >= buckets.doc_offsets.size() && stamps + 1 >= buckets.doc_offsets.size() &&
                sets.bitmaps.rows + 1 >= static_cast<i64>(buckets.doc_offsets.size()),
            "every document needs a size, a bitmap and a stamp");
}

auto as_tuple(JoinCandidates&& found) {
    return std::tuple(rows_to_numpy<i32>(std::move(found.pairs)), found.met);
}

void bind_resolution(nb::module_& m) {
    m.def("find_candidates", [](i64 start, i64 stop, i64 least, i64 bound, nb::handle joined, nb::handle documents,
                                Out<i32> stamp, nb::handle rule, double floor, i64 limit) {
        const Buckets buckets = BucketFields(joined).view();
        const Documents known = DocumentFields(documents).view();
        const Rule by = rule_of(rule);
        require_documents(start, stop, buckets, known, span(stamp));
        FoundCandidates found = without_gil([&] {
            return find_candidates(start, stop, least, bound, buckets, known, span(stamp), by, floor, limit);
        });
        return std::tuple(rows_to_numpy<i32>(std::move(found.pairs)), found.next, found.met);
    });
    m.def("score_pairs", [](In2<i32> pairs, In<i64> left, In<i64> right, nb::handle held, nb::handle rule,
                            double floor) {
        const SetsView sets = sets_view(held);
        const Rule by = rule_of(rule);
        return rows_to_numpy<i32>(without_gil([&] {
            require(pairs.shape(0) == 0 || pairs.shape(1) >= 2, "a pair has two columns");
            require(left.size() == pairs.shape(0) && right.size() == pairs.shape(0), "every pair needs two rows");
            require_below(span(left), sets.offsets.size() - 1, "left must hold numbers of sets");
            require_below(span(right), sets.offsets.size() - 1, "right must hold numbers of sets");
            return score_pairs(matrix(pairs), span(left), span(right), sets, by, floor);
        }));
    });
    m.def("resolve_run", [](i64 start, i64 stop, i64 first, nb::handle joined, nb::handle documents, Out<i32> stamp,
                            nb::handle held, nb::handle rule, double floor, i64 cap, bool every_pair) {
        const Buckets buckets = BucketFields(joined).view();
        const Documents known = DocumentFields(documents).view();
        const SetsView sets = sets_view(held);
        const Rule by = rule_of(rule);
        require_documents(start, stop, buckets, known, span(stamp));
        require(first <= start && stop - first < static_cast<i64>(sets.offsets.size()), "every document needs a set");
        ResolvedRun found = without_gil([&] {
            return resolve_run(start, stop, first, buckets, known, span(stamp), sets, by, floor, cap, every_pair);
        });
        return std::tuple(rows_to_numpy<i32>(std::move(found.pairs)), found.met);
    });
}

void bind_pairs(nb::module_& m) {
    m.def("find_bridges", [](i64 bucket, i64 place, In<i64> bucket_offsets, In<u32> bucket_docs, In<i32> roots,
                             i64 limit) {
        Bridges found = without_gil([&] {
            return find_bridges(bucket, place, span(bucket_offsets), span(bucket_docs), span(roots), limit);
        });
        return std::tuple(rows_to_numpy<i32>(std::move(found.pairs)), found.bucket, found.place);
    });
    m.def("find_sharing_pairs", [](i64 start, In<i64> doc_offsets, In<u32> doc_buckets, In<i64> bucket_offsets,
                                   In<u32> bucket_docs, i64 limit) {
        SharingPairs found = without_gil([&] {
            return find_sharing_pairs(start, incidence(doc_offsets, doc_buckets, bucket_offsets, bucket_docs), limit);
        });
        return std::tuple(rows_to_numpy<i64>(std::move(found.pairs)), found.next);
    });
    m.def("find_smaller", [](i64 start, i64 stop, In<i64> doc_offsets, In<u32> doc_buckets, In<i64> bucket_offsets,
                             In<u32> bucket_docs, In<bool> answers, In<i64> sizes, In2<u64> bitmaps, double threshold,
                             Out<i64> stamp) {
        return as_tuple(without_gil([&] {
            const Incidence buckets = incidence(doc_offsets, doc_buckets, bucket_offsets, bucket_docs);
            const JoinedSets sets{span(sizes), matrix(bitmaps), threshold};
            require_join(start, stop, buckets, sets, stamp.size());
            require(answers.size() == bucket_docs.size(), "every document of a bucket needs a flag");
            return find_smaller(start, stop, buckets, span(answers), sets, span(stamp));
        }));
    });
    m.def("find_larger", [](i64 start, i64 stop, In<i64> doc_offsets, In<u32> doc_buckets, In<bool> asks,
                            In<i64> bucket_offsets, In<u32> bucket_docs, In<i64> sizes, In2<u64> bitmaps,
                            double threshold, Out<i64> stamp) {
        return as_tuple(without_gil([&] {
            const Incidence buckets = incidence(doc_offsets, doc_buckets, bucket_offsets, bucket_docs);
            const JoinedSets sets{span(sizes), matrix(bitmaps), threshold};
            require_join(start, stop, buckets, sets, stamp.size());
            require(asks.size() == doc_buckets.size(), "every bucket of a document needs a flag");
            return find_larger(start, stop, buckets, span(asks), sets, span(stamp));
        }));
    });
}

}  // namespace

void bind_resolve(nb::module_& m) {
    bind_resolution(m);
    bind_pairs(m);
}

}  // namespace roughly
