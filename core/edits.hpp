// Shortest edit scripts: the greedy algorithm of Myers (Algorithmica 1, 1986, 251–266), cut off after EDITS edits.
//
// Row d of `reached` starts at d(d + 1)/2 and holds, for the diagonals k = i − j = −d, −d + 2, …, d, the furthest i
// reached on k with d edits; diagonals outside the gap are never entered. Where EDITS edits do not lead to the end of
// the gap, the path that got furthest is taken, and a new one starts behind it.
//
// | symbol | meaning                                             |
// |--------|-----------------------------------------------------|
// | d, k   | edits made; diagonal                                |
// | low    | the least diagonal of a gap, −(its tokens of b)     |
// | high   | the greatest, its tokens of a                       |
// | x      | position in a, counted from the start of the gap    |
#pragma once

#include <algorithm>
#include <vector>

#include "runs.hpp"

namespace roughly::alignment {

class EditScripts {
public:
    static constexpr i64 EDITS = 192;

    // Calls take(block) for each run of equal tokens along the scripts of one gap, from first to last.
    template <typename Take>
    void fill(Tokens a, Tokens b, Gap gap, Take&& take) {
        while (gap.i < gap.i_end && gap.j < gap.j_end) {
            find_script(a, b, gap);
            for (auto block = snakes_.rbegin(); block != snakes_.rend(); ++block) take(*block);
            gap.i = snakes_.front().left_end();
            gap.j = snakes_.front().right_end();
        }
    }

private:
    struct Step {
        i64 from, x;  // the diagonal that the path comes from, and x after the edit
    };

    static i64 row(i64 d) { return d * (d + 1) / 2; }

    // From where the best path comes to diagonal k with its d-th edit.
    Step step(i64 d, i64 k, i64 low, i64 high) const {
        if (d == 0) return {k, 0};
        const i32* before = reached_ + row(d - 1) + (k + d) / 2;
        const i64 down = k < std::min(d, high) ? before[0] : -1;     // inserts a token of b
        const i64 right = k > std::max(-d, low) ? before[-1] : -1;  // deletes a token of a
        if (down > right) return {k + 1, down};
        return {k - 1, right + 1};
    }

    // The script of the beginning of a gap, its runs into snakes_ from last to first. The last run ends where the script
    // does, and so may be empty.
    void find_script(Tokens a, Tokens b, const Gap& gap) {
        const i64 low = gap.j - gap.j_end, high = gap.i_end - gap.i;
        const u64* left = a.data() + gap.i;
        const u64* right = b.data() + gap.j;
        i64 best_d = 0, best_k = 0, furthest = -1;
        reached_ = room_.of(static_cast<std::size_t>(row(std::min(EDITS, high - low) + 1)));
        for (i64 d = 0; d <= EDITS && furthest < high - low; ++d) {
            const i64 first = std::max(-d, low + ((low + d) & 1)), last = std::min(d, high - ((high + d) & 1));
            for (i64 k = first; k <= last; k += 2) {
                i64 x = step(d, k, low, high).x;
                if (x <= high && x - k <= -low) {
                    x += equal_tokens(left + x, right + (x - k), std::min(high - x, k - low - x));
                    if (2 * x - k > furthest) {
                        furthest = 2 * x - k;
                        best_d = d;
                        best_k = k;
                    }
                }
                reached_[row(d) + (k + d) / 2] = static_cast<i32>(x);
            }
        }
        snakes_.clear();
        i64 k = best_k;
        for (i64 d = best_d; d >= 0; --d) {
            const auto [from, start] = step(d, k, low, high);
            const i64 x = reached_[row(d) + (k + d) / 2];
            if (x > start || snakes_.empty()) snakes_.push_back({gap.i + start, gap.j + start - k, x - start});
            k = from;
        }
    }

    Room<i32> room_;
    i32* reached_ = nullptr;
    std::vector<Block> snakes_;
};

}  // namespace roughly::alignment
