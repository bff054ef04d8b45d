// Bindings for what is read of Parquet itself, in addition to what pyarrow reads.

#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "parquet_footer.hpp"

namespace roughly {

void bind_parquet(nb::module_& m) {
    m.def("parquet_group_sizes", [](In<u8> footer) {
        auto sizes = without_gil([&] { return parquet::group_sizes(span(footer)); });
        return std::tuple(to_numpy(std::move(sizes.groups), parquet::GroupSizes::OF_GROUP),
                          to_numpy(std::move(sizes.columns), parquet::GroupSizes::OF_COLUMN),
                          to_numpy(std::move(sizes.paths)), to_numpy(std::move(sizes.path_ends)));
    });
}

}  // namespace roughly
