// What the fuzz targets share: the bytes that libFuzzer gives, cut into pieces, and a check that stops at a finding.
//
// A target is one file fuzz/NAME.cpp with one function, `try_bytes`. It calls kernels with the input and checks what must
// hold of every answer. The sanitizers find reads and writes out of bounds; `must` finds wrong answers.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "words.hpp"

namespace roughly::fuzz {

void try_bytes(std::span<const u8> input);

// Ends the process with a message if something that must hold does not.
inline void must(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "finding: not so: %s\n", what);
    std::abort();
}

// A copy of its own, so that a read past the end is out of bounds and not in what comes next.
inline std::vector<u8> alone(std::span<const u8> bytes) { return {bytes.begin(), bytes.end()}; }

// 0 = first ≤ … ≤ last ≤ size, all within the data.
inline void must_ascend(std::span<const i64> offsets, u64 size) {
    i64 before = 0;
    for (const i64 offset : offsets) {
        must(offset >= before, "offsets ascend");
        before = offset;
    }
    must(static_cast<u64>(before) <= size, "offsets lie in the data");
}

// Reads numbers off the front of an input.
class Choices {
public:
    explicit Choices(std::span<const u8> input) : left_(input) {}

    // 0 … below − 1; 0 once the input is used up.
    u64 next(u64 below) {
        u64 value = 0;
        for (int i = 0; i < 2 && !left_.empty(); i++, left_ = left_.subspan(1)) value = value << 8 | left_[0];
        return value % below;
    }
    std::span<const u8> rest() const { return left_; }

private:
    std::span<const u8> left_;
};

}  // namespace roughly::fuzz
