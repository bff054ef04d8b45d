// Bindings of sketches: samples of shingles, and estimates from them.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "sketches.hpp"

namespace roughly {

void bind_sketches(nb::module_& m) {
    m.def("samples", [](In<u64> tokens, In<i64> offsets, u64 size, In<u64> limits) {
        auto made = without_gil([&] { return samples(span(tokens), span(offsets), size, span(limits)); });
        return std::pair(to_numpy(std::move(made.values)), to_numpy(std::move(made.offsets)));
    });
    m.def("smallest", [](In<u64> tokens, In<i64> offsets, u64 size, i64 most) {
        auto made = without_gil([&] { return smallest(span(tokens), span(offsets), size, most); });
        return std::tuple(to_numpy(std::move(made.values)), to_numpy(std::move(made.offsets)),
                          to_numpy(std::move(made.limits)));
    });
    m.def("estimates",
          [](In<u64> values, In<i64> offsets, In<u64> limits, i64 most, In<i64> left, In<i64> right) {
              static_assert(sizeof(Counts) == 3 * sizeof(i64));
              Buffer<i64> counts(3 * left.size());
              Buffer<u64> reach(left.size());
              without_gil([&] {
                  estimates(span(values), span(offsets), span(limits), most, span(left), span(right),
                            reinterpret_cast<Counts*>(counts.data()), reach.data());
              });
              return std::pair(to_numpy(std::move(counts), 3), to_numpy(std::move(reach)));
          });
}

}  // namespace roughly
