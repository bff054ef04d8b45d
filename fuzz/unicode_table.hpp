// The frozen Unicode table as the targets read it: the file that TABLE of the environment names, made by fuzz/fuzz_targets.py.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "classes.hpp"

namespace roughly::fuzz {

// Memory of its exact size, so that an index beyond the table is out of bounds.
inline UnicodeTable unicode_table() {
    static const auto held = [] {
        const char* name = std::getenv("TABLE");
        std::FILE* file = name != nullptr ? std::fopen(name, "rb") : nullptr;
        std::vector<u16> stage1(STAGE1);
        std::vector<u32> stage2;
        u64 count = 0;
        bool good = file != nullptr && std::fread(&count, sizeof count, 1, file) == 1 && count < (u64{1} << 24) &&
                    std::fread(stage1.data(), sizeof(u16), STAGE1, file) == STAGE1;
        stage2.resize(good ? count : 0);
        good = good && std::fread(stage2.data(), sizeof(u32), count, file) == count;
        if (!good) {
            std::fputs("TABLE must name the file that fuzz/fuzz_targets.py makes\n", stderr);
            std::_Exit(2);
        }
        std::fclose(file);
        return std::pair(std::move(stage1), std::move(stage2));
    }();
    return {held.first.data(), held.second.data()};
}

}  // namespace roughly::fuzz
