// Shortest edit scripts: the greedy algorithm of Myers (Algorithmica 1, 1986, 251–266), cut off after EDITS edits.
//
// With d edits, the furthest x that a path can reach on the diagonal k is
//
//     x_d(k) = max(x_{d−1}(k + 1), x_{d−1}(k − 1) + 1), and on from there as far as tokens are equal
//
// The first inserts a token of b, the second deletes one of a. Where EDITS edits do not lead to the end of the gap, the
// path that got furthest is used, and a new one starts after it.
//
// | symbol | meaning                                                         |
// |--------|-----------------------------------------------------------------|
// | d      | edits made                                                      |
// | x, y   | positions in a and b, counted from the start of the gap         |
// | k      | diagonal x − y; row d has k = −d, −d + 2, …, d within the gap   |
// | low    | the least diagonal of a gap, −(its tokens of b)                 |
// | high   | the greatest, its tokens of a                                   |
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
    // A row has a cell for each of its diagonals, and one at each end that says NOWHERE: no path comes from there.
    static constexpr i32 NOWHERE = -1;
    static i64 start_of(i64 d) { return d * (d + 5) / 2; }
    i32* cell(i64 d, i64 k) const { return reached_ + start_of(d) + (k + d) / 2 + 1; }

    // The script of the beginning of a gap, its runs into snakes_ from last to first. The last run ends where the
    // script does, and so may be empty.
    void find_script(Tokens a, Tokens b, const Gap& gap) {
        const i64 low = gap.j - gap.j_end, high = gap.i_end - gap.i;
        const u64* left = a.data() + gap.i;
        const u64* right = b.data() + gap.j;
        reached_ = room_.of(static_cast<std::size_t>(start_of(std::min(EDITS, high - low) + 1)));
        Reached best{-1, 0, 0};
        const i64 shorter = std::min(high, -low);
        for (i64 d = 0; d <= EDITS && best.sum < high - low; d++) {
            // Positions of this row add up to best.sum + 1 at most: far from the ends, no bounds have to be checked.
            if (d > 0 && best.sum + 1 + d < 2 * shorter) {
                reach<true>(left, right, low, high, d, best);
            } else {
                reach<false>(left, right, low, high, d, best);
            }
        }
        trace_back(gap, best.d, best.k);
    }

    struct Reached {
        i64 sum, d, k;  // x + y, and where
    };

    // Fills row d.
    template <bool inside>
    void reach(const u64* left, const u64* right, i64 low, i64 high, i64 d, Reached& best) {
        const i64 first = std::max(-d, low + ((low + d) & 1)), last = std::min(d, high - ((high + d) & 1));
        i32* row = cell(d, first);
        const i32* before = d == 0 ? row : cell(d - 1, first - 1);  // before[0] is k − 1, before[1] is k + 1
        row[-1] = NOWHERE;
        i64 furthest = best.sum;
        for (i64 k = first; k <= last; k += 2, row++, before++) {
            i64 x = d == 0 ? 0 : std::max(before[0] + 1, before[1]);
            if (inside || (x <= high && x - k <= -low)) {
                if (!inside || left[x] == right[x - k]) {
                    x += equal_tokens(left + x, right + (x - k), std::min(high - x, k - low - x));
                }
                if (2 * x - k > furthest) {
                    furthest = 2 * x - k;
                    best = {furthest, d, k};
                }
            }
            *row = static_cast<i32>(x);
        }
        *row = NOWHERE;
    }

    void trace_back(const Gap& gap, i64 d, i64 k) {
        snakes_.clear();
        for (; d >= 0; d--) {
            i64 from = k, start = 0;
            if (d > 0) {
                const i32 deleted = *cell(d - 1, k - 1), inserted = *cell(d - 1, k + 1);
                from = inserted > deleted ? k + 1 : k - 1;
                start = std::max(deleted + 1, inserted);
            }
            const i64 x = *cell(d, k);
            if (x > start || snakes_.empty()) snakes_.push_back({gap.i + start, gap.j + start - k, x - start});
            k = from;
        }
    }

    Room<i32> room_;
    i32* reached_ = nullptr;
    std::vector<Block> snakes_;
};

}  // namespace roughly::alignment
