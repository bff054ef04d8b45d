// Bindings of the kernels of text: hashes, shingles, tokens.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bind.hpp"
#include "characters.hpp"
#include "gathering.hpp"
#include "hashing.hpp"
#include "minhash.hpp"
#include "shingles.hpp"
#include "sorting.hpp"
#include "text_signing.hpp"
#include "tokens.hpp"
#include "windows.hpp"

namespace roughly {

namespace {

UnicodeTable table_of(const In<u16>& stage1, const In<u32>& stage2) {
    if (stage1.size() < STAGE1) throw nb::value_error("stage1 must have an entry for every block of 256 code points");
    return {stage1.data(), stage2.data()};
}

}  // namespace

void bind_text(nb::module_& m) {
    m.def("mix", &mix);
    m.def("spread", &spread);
    m.def("absorb", &absorb);
    m.def("hash_bytes", [](In<u8> data, In<i64> offsets) {
        return to_numpy(without_gil([&] { return hash_bytes(span(data), span(offsets)); }), 2);
    });
    m.def("hash_sequences", [](In<u64> values, In<i64> offsets) {
        return to_numpy(without_gil([&] { return hash_sequences(span(values), span(offsets)); }), 2);
    });

    m.def("sort_hashes", [](In<u64> values) {
        return to_numpy(without_gil([&] {
            Buffer<u64> out(values.size());
            Buffer<u32> counts(SORT_COUNTS);
            sort_hashes(span(values), out.data(), counts.data());
            return out;
        }));
    });
    m.def("shingle_sets", [](In<u64> tokens, In<i64> offsets, u64 size) {
        auto sets = without_gil([&] { return shingle_sets(span(tokens), span(offsets), size); });
        return std::pair(to_numpy(std::move(sets.values)), to_numpy(std::move(sets.offsets)));
    });

    m.def("signatures", [](In<u64> tokens, In<i64> offsets, u64 size, In<u32> multipliers, In<u32> increments,
                           u64 samples) {
        const Orderings orderings{span(multipliers), span(increments)};
        auto out = without_gil([&] { return signatures(span(tokens), span(offsets), size, orderings, samples); });
        return to_numpy(std::move(out), {offsets.size() - 1, samples});
    });
    m.def("band_keys", [](In<u64> tokens, In<i64> offsets, u64 size, In<u32> multipliers, In<u32> increments,
                          u64 bands, u64 rows) {
        const Orderings orderings{span(multipliers), span(increments)};
        auto out = without_gil([&] { return band_keys(span(tokens), span(offsets), size, orderings, bands, rows); });
        return to_numpy(std::move(out), {offsets.size() - 1, bands});
    });
    m.def("gather_ranges", [](In<u64> values, In<i64> starts, In<i64> offsets) {
        return to_numpy(without_gil([&] { return gather_ranges(span(values), span(starts), span(offsets)); }));
    });
    m.def("tally_trials", [](In<u64> values, In<i64> offsets, In2<i64> pairs, In<i64> groups, int levels,
                             In<double> thresholds, Out<i64> right, Out<i64> wrong, Out<i64> true_pairs) {
        const Tallies tallies{span(right), span(wrong), span(true_pairs)};
        without_gil([&] {
            tally_trials(span(values), span(offsets), span(pairs), span(groups), levels, span(thresholds), tallies);
        });
    });

    m.def("tokenise", [](In<u8> data, In<i64> offsets, In<u16> stage1, In<u32> stage2) {
        const UnicodeTable table = table_of(stage1, stage2);
        auto tokens = without_gil([&] { return tokenise(span(data), span(offsets), table); });
        return std::pair(to_numpy(std::move(tokens.hashes)), to_numpy(std::move(tokens.offsets)));
    });
    m.def("characters", [](In<u8> data, In<i64> offsets, In<u16> stage1, In<u32> stage2) {
        const UnicodeTable table = table_of(stage1, stage2);
        auto tokens = without_gil([&] { return characters(span(data), span(offsets), table); });
        return std::pair(to_numpy(std::move(tokens.hashes)), to_numpy(std::move(tokens.offsets)));
    });
    m.def("sign_texts", [](In<u8> data, In<i64> offsets, In<u16> stage1, In<u32> stage2, u64 size, In<u32> multipliers,
                           In<u32> increments, u64 bands, u64 rows) {
        const UnicodeTable table = table_of(stage1, stage2);
        const BandRequest request{size, {span(multipliers), span(increments)}, bands, rows};
        auto out = without_gil([&] { return sign_texts(span(data), span(offsets), table, request); });
        return std::tuple(to_numpy(std::move(out.raw), 2), to_numpy(std::move(out.lexical), 2),
                          to_numpy(std::move(out.keys), {offsets.size() - 1, bands}), to_numpy(std::move(out.lengths)));
    });
    m.def("token_spans", [](In<u8> data, In<u16> stage1, In<u32> stage2) {
        const UnicodeTable table = table_of(stage1, stage2);
        return to_numpy(without_gil([&] { return token_spans(span(data), table); }), 2);
    });
}

}  // namespace roughly
