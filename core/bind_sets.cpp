// Bindings of what is done with sets of values: intersections, bitmaps, prefixes.

#include "bind_rows.hpp"
#include "bitmaps.hpp"
#include "judging.hpp"
#include "prefixes.hpp"
#include "sets.hpp"

namespace roughly {

namespace {

void require_counts(std::size_t counts) {
    require(std::has_single_bit(counts), "counts must be a power of two long");
}

template <typename Count>
void bind_counts(nb::module_& m) {
    m.def("count_hashed", [](In<u64> values, Out<Count> counts) {
        without_gil([&] {
            require_counts(counts.size());
            count_hashed(span(values), span(counts));
        });
    });
}

}  // namespace

void bind_sets(nb::module_& m) {
    m.def("intersections", [](In<u64> values, In<i64> offsets, In<i64> left, In<i64> right) {
        return to_numpy(without_gil([&] {
            require(left.size() == right.size(), "left and right must pair up");
            Buffer<i64> out(left.size());
            intersections(span(values), span(offsets), span(left), span(right), out.span());
            return out;
        }));
    });
    m.def("intersect_at_least", [](In<u64> values, i64 i, i64 ie, i64 j, i64 je, i64 need) {
        const auto size = static_cast<i64>(values.size());
        require(0 <= i && i <= ie && ie <= size && 0 <= j && j <= je && je <= size, "sets must lie within the values");
        return without_gil([&] { return intersect_at_least(values.data(), i, ie, j, je, need); });
    });
    m.def("draw_bitmaps", [](In<u64> values, In<i64> offsets, Out2<u64> bitmaps, i64 first) {
        without_gil([&] {
            require_rising_offsets(span(offsets), values.size());
            const auto sets = static_cast<i64>(offsets.size()) - 1;
            const Matrix<u64> rows = matrix(bitmaps);
            require(first >= 0 && first <= rows.rows && sets <= rows.rows - first, "every set needs a bitmap");
            require(rows.width == 0 || std::has_single_bit(static_cast<u64>(rows.width)),
                    "a bitmap has a power of two of words");
            draw_bitmaps(span(values), span(offsets), rows, first);
        });
    });
    bind_counts<u8>(m);
    bind_counts<u32>(m);
    m.def("prefix_keys", [](In<u64> values, In<i64> offsets, In<u32> counts, i64 measure, double threshold,
                            unsigned threads) {
        PrefixKeys found = without_gil([&] {
            require_counts(counts.size());
            require_rising_offsets(span(offsets), values.size());
            return prefix_keys(span(values), span(offsets), span(counts), Measure{measure}, threshold,
                               [threads](std::size_t n, std::size_t chunk, auto&& body) {
                                   parallel_for_with_signals(n, threads, chunk, body);
                               });
        });
        return std::tuple(to_numpy(std::move(found.keys)), to_numpy(std::move(found.owners)));
    });
    m.def("prefix_flags", [](In<u64> values, In<i64> offsets, In<u8> counts, i64 measure, double threshold) {
        return to_numpy(without_gil([&] {
            require_counts(counts.size());
            require_rising_offsets(span(offsets), values.size());
            return prefix_flags(span(values), span(offsets), span(counts), Measure{measure}, threshold);
        }));
    });
}

}  // namespace roughly
