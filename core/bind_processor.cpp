// Bindings for the tests: which vector instructions are used.

#include <nanobind/stl/string.h>

#include <string>

#include "bind.hpp"
#include "processor.hpp"

namespace roughly {

namespace {

const char* name_of(VectorLevel level) {
    return level == VectorLevel::avx512 ? "avx512" : level == VectorLevel::avx2 ? "avx2" : "baseline";
}

}  // namespace

void bind_processor(nb::module_& m) {
    m.def("vector_level", [] { return std::string(name_of(vector_level())); });
    m.def("set_vector_level", [](int level) {
        return std::string(name_of(set_vector_level(static_cast<VectorLevel>(std::clamp(level, 0, 2)))));
    });
}

}  // namespace roughly
