// Bindings of resolution and of the joins: which documents are compared, which are kept.

#include "bind_resolve.hpp"
#include "bridges.hpp"
#include "joining.hpp"
#include "pairs.hpp"

namespace roughly {

namespace {

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
