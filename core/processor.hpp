// Which instructions the processor has beyond the baseline that the module is built for, found when it is loaded.
//
// A loop that gains from wider vectors is written once, as a template of the number of lanes that is always inlined
// (ROUGHLY_INLINE), and called from one function per level that carries the level's attribute, e.g.
//
//     ROUGHLY_AVX2 void work_avx2(…) { work<8>(…); }
//
// so that only those functions hold instructions that not every processor has. `vector_level` says which may be called.
// All levels compute the same bits; the tests run each of them (`set_vector_level`).
#pragma once

#include <algorithm>
#include <atomic>

#if defined(__x86_64__)
#include <cpuid.h>
#define ROUGHLY_AVX2 [[gnu::target("avx2,bmi,bmi2,popcnt")]]
#define ROUGHLY_AVX512 [[gnu::target("avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]]
#endif
#define ROUGHLY_INLINE [[gnu::always_inline]] inline

namespace roughly {

enum class VectorLevel : int { baseline = 0, avx2 = 1, avx512 = 2 };

// What the processor says that it has, and the system that it saves the registers of (XCR0). Asked directly, since not
// every compiler's library has __builtin_cpu_supports.
inline VectorLevel best_vector_level() {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return VectorLevel::baseline;
    constexpr unsigned saves_registers = 1u << 27, popcnt = 1u << 23;
    if ((c & saves_registers) == 0 || (c & popcnt) == 0) return VectorLevel::baseline;
    unsigned saved = 0, high = 0;
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return VectorLevel::baseline;
    const auto has = [](unsigned word, unsigned bits) { return (word & bits) == bits; };
    const bool avx2 = has(saved, 0x6) && has(b, 1u << 3 | 1u << 5 | 1u << 8);  // with BMI and BMI2
    const bool avx512 = has(saved, 0xE6) && has(b, 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31);  // F, DQ, BW, VL
    if (avx2) return avx512 ? VectorLevel::avx512 : VectorLevel::avx2;
#endif
    return VectorLevel::baseline;
}

namespace detail {
inline std::atomic<VectorLevel> chosen_level{best_vector_level()};
}

inline VectorLevel vector_level() { return detail::chosen_level.load(std::memory_order_relaxed); }

// For tests: use this level, or the best one that the processor has where that is less.
inline VectorLevel set_vector_level(VectorLevel level) {
    detail::chosen_level = std::min(level, best_vector_level());
    return vector_level();
}

}  // namespace roughly
