// The entry of every target: libFuzzer's, which counts the bytes and stops after BYTES of the environment; or, built
// with ROUGHLY_REPLAY, a main that tries the files it is given.

#include <fstream>
#include <iterator>
#include <string>

#include "target.hpp"

namespace {

std::uint64_t tried_bytes = 0, tried_inputs = 0;

void try_counted(std::span<const std::uint8_t> input) {
    roughly::fuzz::try_bytes(input);
    tried_bytes += input.size();
    tried_inputs++;
}

void print_counts() {
    std::printf("{\"bytes\": %llu, \"inputs\": %llu}\n", static_cast<unsigned long long>(tried_bytes),
                static_cast<unsigned long long>(tried_inputs));
    std::fflush(stdout);
}

}  // namespace

#if defined(ROUGHLY_REPLAY)

int main(int count, char** names) {
    for (int i = 1; i < count; i++) {
        std::ifstream file(names[i], std::ios::binary);
        if (!file) {
            std::fprintf(stderr, "cannot read %s\n", names[i]);
            return 1;
        }
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        try_counted({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    }
    print_counts();
}

#else

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const char* const asked = std::getenv("BYTES");
    static const std::uint64_t limit = asked != nullptr ? std::strtoull(asked, nullptr, 10) : ~std::uint64_t{0};
    static const int at_the_end = std::atexit(print_counts);  // libFuzzer's own limit of time
    static_cast<void>(at_the_end);
    try_counted({data, size});
    if (tried_bytes >= limit) {
        print_counts();
        std::_Exit(0);  // libFuzzer takes an ordinary exit for a finding
    }
    return 0;
}

#endif
