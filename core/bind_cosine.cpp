// Bindings of the exact join of weighted vectors.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <cstring>

#include "bind.hpp"
#include "buffer.hpp"
#include "cosine.hpp"

namespace roughly {

namespace {

static_assert(sizeof(cosine::Pair) == 2 * sizeof(i64));

// terms, offsets, unit, middle, heads: roughly.kernels.cosine.Units
using UnitArrays = std::tuple<In<u32>, In<i64>, In<float>, In<float>, In2<std::int16_t>>;
// starts, docs, through, unit, middle: roughly.kernels.cosine.Postings
using PostingArrays = std::tuple<In<i64>, In<u32>, In<float>, In<float>, In<float>>;

cosine::Units units_of(const UnitArrays& arrays) {
    return std::apply(
        [](const auto&... array) { return cosine::Units{span(array)...}; }, arrays);
}

cosine::Postings postings_of(const PostingArrays& arrays) {
    return std::apply([](const auto&... array) { return cosine::Postings{span(array)...}; }, arrays);
}

}  // namespace

void bind_cosine(nb::module_& m) {
    m.def("squares", [](In<double> weights, In<i64> offsets) {
        Buffer<double> out(offsets.size() - 1);
        without_gil([&] { cosine::squares(weights.data(), span(offsets), out.data()); });
        return to_numpy(std::move(out));
    });
    m.def("scale", [](In<double> weights, In<double> norms, In<u32> terms, In<i64> offsets) {
        Buffer<float> unit(terms.size()), middle(terms.size());
        Buffer<std::int16_t> heads((offsets.size() - 1) * cosine::HEAD);
        without_gil([&] {
            std::fill_n(heads.data(), heads.size(), std::int16_t{0});
            cosine::scale(weights.data(), norms.data(), terms.data(), span(offsets), unit.data(), middle.data(),
                          heads.data());
        });
        return std::tuple(to_numpy(std::move(unit)), to_numpy(std::move(middle)),
                          to_numpy(std::move(heads), cosine::HEAD));
    });
    m.def("indexed_from", [](In<double> weights, In<i64> offsets, In<double> norms, double threshold) {
        Buffer<i64> out(offsets.size() - 1);
        without_gil([&] {
            cosine::indexed_from(weights.data(), span(offsets), norms.data(), threshold, out.data());
        });
        return to_numpy(std::move(out));
    });
    m.def("build_index", [](In<double> weights, In<double> norms, UnitArrays vectors, In<i64> firsts, In<i64> starts) {
        const auto count = static_cast<std::size_t>(starts.data()[starts.size() - 1]);
        Buffer<u32> docs(count);
        Buffer<float> through(count), unit(count), middle(count);
        without_gil([&] {
            cosine::build_index(weights.data(), norms.data(), units_of(vectors), firsts.data(), span(starts),
                                docs.data(), through.data(), unit.data(), middle.data());
        });
        return std::tuple(to_numpy(std::move(docs)), to_numpy(std::move(through)), to_numpy(std::move(unit)),
                          to_numpy(std::move(middle)));
    });
    m.def("cosine_candidates", [](i64 start, i64 stop, i64 first, UnitArrays asking, UnitArrays held,
                                  PostingArrays postings, double threshold) {
        Buffer<i64> rows;
        i64 met = 0;
        without_gil([&] {
            const auto found = cosine::find_candidates(start, stop, first, units_of(asking), units_of(held),
                                                       postings_of(postings), threshold);
            rows = Buffer<i64>(2 * found.first.size());
            if (!found.first.empty()) std::memcpy(rows.data(), found.first.data(), rows.size() * sizeof(i64));
            met = found.second;
        });
        return std::pair(to_numpy(std::move(rows), 2), met);
    });
    m.def("cosines", [](In2<i64> pairs, In<u32> terms, In<double> weights, In<i64> offsets, In<double> norms,
                        In<u32> other_terms, In<double> other_weights, In<i64> other_offsets,
                        In<double> other_norms) {
        Buffer<double> out(pairs.shape(0));
        without_gil([&] {
            const cosine::Weighted one{terms.data(), weights.data(), offsets.data(), norms.data()};
            const cosine::Weighted other{other_terms.data(), other_weights.data(), other_offsets.data(),
                                         other_norms.data()};
            cosine::cosines({reinterpret_cast<const cosine::Pair*>(pairs.data()), pairs.shape(0)}, one, other,
                            out.data());
        });
        return to_numpy(std::move(out));
    });
}

}  // namespace roughly
