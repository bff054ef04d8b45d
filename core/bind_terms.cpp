// Bindings of the kernels of terms: distinct and rarest terms, I-Match signatures, keys of tuples, term vectors.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "imatch.hpp"
#include "terms.hpp"
#include "tuples.hpp"
#include "vectors.hpp"

namespace roughly {

void bind_terms(nb::module_& m) {
    m.def("distinct_terms", [](In<u64> tokens, In<i64> offsets) {
        auto found = without_gil([&] { return distinct_terms(span(tokens), span(offsets)); });
        return std::tuple(to_numpy(std::move(found.terms)), to_numpy(std::move(found.firsts)),
                          to_numpy(std::move(found.offsets)));
    });
    m.def("rarest_terms",
          [](In<u64> terms, In<i64> offsets, In<u32> frequencies, u64 lowest, u64 highest, u64 most) {
              auto rarest = without_gil([&] {
                  return rarest_terms(span(terms), span(offsets), span(frequencies), lowest, highest, most);
              });
              return std::tuple(to_numpy(std::move(rarest.found), most), to_numpy(std::move(rarest.places), most),
                                to_numpy(std::move(rarest.counts)));
          });
    m.def("term_counts", [](In<u64> tokens, In<i64> offsets) {
        auto counted = without_gil([&] { return term_counts(span(tokens), span(offsets)); });
        return std::tuple(to_numpy(std::move(counted.terms)), to_numpy(std::move(counted.counts)),
                          to_numpy(std::move(counted.offsets)));
    });

    m.def("imatch_signatures",
          [](In<u64> terms, In<i64> offsets, In<u32> frequencies, bool by_document, u64 lowest, u64 highest,
             u64 rounding, bool outer, i64 min_terms, double min_share, bool secondary, In<u64> seeds, u64 lexicons,
             u64 cut) {
              return to_numpy(without_gil([&] {
                  ImatchSigner signer({by_document, lowest, highest, rounding, outer},
                                      {min_terms, min_share, secondary}, span(seeds), lexicons, cut,
                                      longest(span(offsets)));
                  const std::size_t documents = offsets.size() - 1, width = lexicons + 1;
                  Buffer<u64> out(documents * width);
                  std::fill_n(out.data(), out.size(), u64{0});
                  for (std::size_t d = 0; d < documents; d++) {
                      const auto first = static_cast<std::size_t>(offsets.data()[d]);
                      const auto count = static_cast<std::size_t>(offsets.data()[d + 1]) - first;
                      signer.sign(span(terms).subspan(first, count), span(frequencies).subspan(first, count),
                                  out.data() + d * width);
                  }
                  return out;
              }), lexicons + 1);
          });
    m.def("set_signatures", [](In<u64> terms, In<i64> offsets, In<u64> seeds) {
        return to_numpy(without_gil([&] {
            Buffer<u64> out(offsets.size() - 1);
            for (std::size_t d = 0; d < out.size(); d++) {
                out[d] = ImatchSigner::sign_all(slice(span(terms), span(offsets), d), span(seeds));
            }
            return out;
        }));
    });

    m.def("word_keys", [](In<u64> tokens, In<i64> offsets, u64 words, In<u32> multipliers, In<u32> increments) {
        return to_numpy(without_gil([&] {
            return word_keys(span(tokens), span(offsets), words, span(multipliers), span(increments));
        }), {offsets.size() - 1, multipliers.size()});
    });
    m.def("pair_keys", [](In2<u64> supers) {
        const std::size_t s = supers.shape(1);
        return to_numpy(without_gil([&] { return pair_keys(span(supers), s); }), {supers.shape(0), s * (s - 1) / 2});
    });

    m.def("term_vectors", [](In2<u64> found, In2<u64> frequencies, In<i64> counts, In<i64> documents, u64 prefix) {
        const std::size_t size = found.shape(1);
        auto made = without_gil([&] {
            return term_vectors(found.data(), frequencies.data(), counts.data(), span(documents), size, prefix);
        });
        return std::pair(to_numpy(std::move(made.vectors), size), to_numpy(std::move(made.keys), prefix));
    });
}

}  // namespace roughly
