// Values gathered from JSON: spans and kinds that no reader has found. They are refused, or the strings lie one after
// another in the memory that was taken for them.

#include "jsonlines.hpp"
#include "target.hpp"

namespace roughly::fuzz {

void try_bytes(std::span<const u8> input) {
    Choices choices(input);
    std::vector<i64> spans(2 * choices.next(9));
    std::vector<u8> kinds(spans.size() / 2);
    for (auto& place : spans) place = static_cast<i64>(choices.next(300)) - 3;
    for (auto& kind : kinds) kind = static_cast<u8>(choices.next(4));
    const auto data = alone(choices.rest());
    try {
        const Strings strings = gather_values(data, spans, kinds);
        must(strings.offsets.size() == kinds.size() + 1, "one offset more than values");
        must_ascend(strings.offsets.span(), strings.text.size());
    } catch (const std::invalid_argument&) {
        return;  // a span outside the data is refused
    }
}

}  // namespace roughly::fuzz
