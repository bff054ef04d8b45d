// JSON lines: the input is a block of lines. Every value that is found lies in its line; a block gives the same values
// as its lines one by one; what is taken is UTF-8.

#include "jsonlines.hpp"
#include "lines.hpp"
#include "target.hpp"

namespace roughly::fuzz {

namespace {

constexpr u8 KEYS[] = {'t', 'e', 'x', 't', 'i', 'd', 'n'};
constexpr i64 KEY_OFFSETS[] = {0, 4, 6, 7};
constexpr std::size_t OTHERS = 2;

JsonColumns find(std::span<const u8> data, std::span<const i64> ends) {
    return ValueFinder(data, ends, KEYS, KEY_OFFSETS).find();
}

void check_values(std::span<const u8> data, std::span<const i64> ends, const JsonColumns& found, std::size_t column) {
    const std::size_t lines = ends.size();
    const std::span spans(found.spans.data() + 2 * column * lines, 2 * lines);
    const std::span kinds(found.kinds.data() + column * lines, lines);
    for (std::size_t line = 0; line < lines; line++) {
        if (kinds[line] == static_cast<u8>(ValueKind::null)) continue;
        must(found.status[line] == static_cast<u8>(LineStatus::taken), "only lines that are taken have values");
        const i64 begin = line == 0 ? 0 : ends[line - 1];
        must(begin <= spans[2 * line] && spans[2 * line] <= spans[2 * line + 1] && spans[2 * line + 1] <= ends[line],
             "a value lies in its line");
    }
    const Strings strings = gather_values(data, spans, kinds);
    must_ascend(strings.offsets.span(), strings.text.size());
    must(is_utf8(strings.text.data(), strings.text.size()), "values are UTF-8");
}

void check_line_alone(std::span<const u8> data, i64 begin, i64 end, const JsonColumns& found, std::size_t line) {
    const auto bytes = alone(data.subspan(static_cast<u64>(begin), static_cast<u64>(end - begin)));
    const i64 ends[] = {end - begin};
    const JsonColumns same = find(bytes, ends);
    must(same.status[0] == found.status[line], "a line is taken or not, whatever stands around it");
    const i64 before = line == 0 ? 0 : found.ends[line - 1];
    must(same.ends[0] == found.ends[line] - before, "its text has the same length");
    must(std::equal(same.text.data(), same.text.data() + same.ends[0], found.text.data() + before), "and the same bytes");
}

}  // namespace

void try_bytes(std::span<const u8> input) {
    const auto data = alone(input);
    const auto ends = line_ends(data);
    if (ends.empty()) return;
    must_ascend(ends, data.size());
    const JsonColumns found = find(data, ends);
    must_ascend(found.ends.span(), found.text.size());
    must(is_utf8(found.text.data(), found.text.size()), "texts are UTF-8");
    for (std::size_t column = 0; column < OTHERS; column++) check_values(data, ends, found, column);
    i64 begin = 0;
    for (std::size_t line = 0; line < ends.size(); begin = ends[line++]) {
        check_line_alone(data, begin, ends[line], found, line);
    }
}

}  // namespace roughly::fuzz
