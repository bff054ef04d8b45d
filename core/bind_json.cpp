// Bindings of the kernels that read files: lines and JSON.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bind.hpp"
#include "jsonlines.hpp"
#include "lines.hpp"

namespace roughly {

void bind_json(nb::module_& m) {
    m.def("line_ends", [](In<u8> data) { return to_numpy(without_gil([&] { return line_ends(span(data)); })); });
    m.def("find_values", [](In<u8> data, In<i64> ends, In<u8> keys, In<i64> key_offsets) {
        if (key_offsets.size() < 2) throw nb::value_error("there must be at least one key, that of the text");
        const std::size_t lines = ends.size(), others = key_offsets.size() - 2;
        auto found = without_gil([&] { return ValueFinder(span(data), span(ends), span(keys), span(key_offsets)).find(); });
        return std::tuple(to_numpy(std::move(found.status)), to_numpy(std::move(found.text)),
                          to_numpy(std::move(found.ends)), to_numpy(std::move(found.spans), {others, lines, 2}),
                          to_numpy(std::move(found.kinds), {others, lines}));
    });
    m.def("gather_values", [](In<u8> data, In2<i64> spans, In<u8> kinds) {
        if (spans.shape(0) != kinds.size() || spans.shape(1) != 2) throw nb::value_error("spans and kinds do not pair up");
        auto strings = without_gil([&] { return gather_values(span(data), span(spans), span(kinds)); });
        return std::pair(to_numpy(std::move(strings.text)), to_numpy(std::move(strings.offsets)));
    });
}

}  // namespace roughly
