// Bindings of reading lines from files, and of the memory that buffers keep between batches.

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>

#include "bind_files.hpp"
#include "bind_rows.hpp"
#include "line_ranges.hpp"

namespace roughly {

namespace {

std::string path_of(const nb::bytes& path) { return {path.c_str(), path.size()}; }

}  // namespace

void bind_lines(nb::module_& m) {
    m.def("read_line_range", [](nb::bytes path, u64 first, u64 start, u64 stop, u64 longest) {
        const std::string name = path_of(path);
        u64 size = 0;
        i64 changed = 0;
        auto lines = with_files([&] {
            const InputFile file(name);
            size = file.size();
            changed = file.changed();
            return read_line_range(file, first, start, stop, longest);
        });
        return std::tuple(to_numpy(std::move(lines.data)), to_numpy(std::move(lines.ends)), lines.begin, lines.too_long,
                          size, changed);
    });
    m.def("read_chosen_lines", [](nb::bytes path, In2<i64> blocks, In<i64> rows) {
        require(blocks.shape(1) == 4, "a block is its first row, its lines, where it begins and its bytes");
        const std::span all(reinterpret_cast<const LineBlock*>(blocks.data()), blocks.shape(0));
        for (const LineBlock& block : all) {
            require(block.count >= 0 && block.offset >= 0 && block.nbytes >= 0, "a block has no negative number");
        }
        const std::string name = path_of(path);
        u64 size = 0;
        i64 changed = 0;
        auto lines = with_files([&] {
            const InputFile file(name);
            size = file.size();
            changed = file.changed();
            for (const LineBlock& block : all) {
                if (static_cast<u64>(block.nbytes) > size) throw FileTooShort();
            }
            return read_chosen_lines(file, all, span(rows));
        });
        return std::tuple(to_numpy(std::move(lines.data)), to_numpy(std::move(lines.ends)), lines.changed, size, changed);
    });
    m.def("keep_memory", [](u64 bytes) { memory::free_blocks().keep(bytes); });
    m.def("release_memory", [] { memory::free_blocks().release(); });
    m.def("kept_memory", [] { return memory::free_blocks().kept(); });
}

}  // namespace roughly
