// Alignment of two token sequences: a long common subsequence, as blocks that rise on both sides.
//
// The longest one would cost the product of the lengths; here every step costs at most a constant times their sum:
//
// 1. Take off what both begin with and what both end with.
// 2. `tile` each gap, twice: of the runs of equal tokens that are too long for chance, keep the heaviest chain that
//    rises on both sides. Too long for chance are 2 + ⌈1.5 · ln(N·M) / ln(1/p)⌉ tokens in a gap of N by M, where p is
//    the chance that two tokens are equal; the longest chance run has about ln(N·M) / ln(1/p) (Erdős and Rényi 1970).
//    So prose is tiled with runs of five to ten words, and a table of noughts and ones is left to step 3.
// 3. The rest is aligned by shortest edit scripts (edits.hpp).
// 4. `slide` and `drop_chance` tidy up: unrelated prose has a third of its words in common, in order.
//
// Positions and lengths are int64, counted from the start of each sequence.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "edits.hpp"
#include "runs.hpp"

namespace roughly::alignment {

// The counts of an alignment: aligned tokens, and for each document those not aligned, at its edges and inside.
struct Outline {
    i64 aligned, left_edge, left_inside, right_edge, right_inside;
};

// Aligns one pair after another; memory is kept between pairs. For one thread.
class Aligner {
public:
    // With `edges`, chance is looked for at the edges of the documents too. The result is valid until the next call.
    const std::vector<Block>& align(Tokens a, Tokens b, bool edges) {
        refuse_long(a);
        refuse_long(b);
        const i64 na = std::ssize(a), nb = std::ssize(b), least = std::min(na, nb);
        blocks_.clear();
        const i64 start = equal_tokens(a.data(), b.data(), least);
        add(blocks_, 0, 0, start);
        if (start == least) return blocks_;
        i64 tail = 0;
        while (tail < least - start && a.end()[-tail - 1] == b.end()[-tail - 1]) ++tail;
        add(blocks_, na - tail, nb - tail, tail);
        const double p = equal_chance(a, b);
        barren_.clear();
        fill_gaps(na, nb, [&](const Gap& gap) {
            if (!tile(a, b, gap, p)) barren_.push_back(gap);
        });
        auto same = barren_.begin();  // what gave nothing the first time would give nothing the second time
        fill_gaps(na, nb, [&](const Gap& gap) {
            if (same != barren_.end() && *same == gap) {
                ++same;
            } else {
                tile(a, b, gap, p);
            }
        });
        fill_gaps(na, nb, [&](const Gap& gap) {
            scripts_.fill(a, b, gap, [&](const Block& block) { add(found_, block.left, block.right, block.length); });
        });
        slide(a, b);
        drop_chance(na, nb, edges);
        return blocks_;
    }

    Outline outline(Tokens a, Tokens b) {
        const std::vector<Block>& blocks = align(a, b, true);
        i64 aligned = 0, left = 0, right = 0;
        for (const Block& block : blocks) aligned += block.length;
        if (!blocks.empty()) {
            left = blocks.back().left_end() - blocks.front().left;
            right = blocks.back().right_end() - blocks.front().right;
        }
        return {aligned, std::ssize(a) - left, left - aligned, std::ssize(b) - right, right - aligned};
    }

private:
    static constexpr int SAMPLE = 512;           // pairs of tokens compared to estimate how often two are equal
    static constexpr i64 CHANCE = 3;    // a block of at most this number of tokens may be chance
    static constexpr i64 EDGE = 10;     // at the edge it is chance beside a change this many times as long

    // Append a block, or lengthen the last one where it touches.
    static void add(std::vector<Block>& blocks, i64 i, i64 j, i64 length) {
        if (length <= 0) return;
        if (!blocks.empty() && blocks.back().left_end() == i && blocks.back().right_end() == j) {
            blocks.back().length += length;
        } else {
            blocks.push_back({i, j, length});
        }
    }

    // The probability that a token of a equals one of b, estimated from pairs spread over both.
    static double equal_chance(Tokens a, Tokens b) {
        const std::size_t na = a.size(), nb = b.size(), step_a = 7919 % na, step_b = 104729 % nb;
        std::size_t i = 0, j = 0;  // i = 7919·s mod |a|, j = 104729·s + ⌊s/7⌋ mod |b|, s = 0, 1, …
        int hits = 0;
        for (int s = 0, seventh = 0; s < SAMPLE; ++s) {
            hits += a[i] == b[j];
            i += step_a;
            i -= i >= na ? na : 0;
            j += step_b;
            if (++seventh == 7) {
                seventh = 0;
                ++j;
            }
            j -= j >= nb ? nb : 0;
        }
        return static_cast<double>(hits + 1) / (SAMPLE + 2);
    }

    // Inserts what fill(gap) adds to found_ between the existing blocks.
    template <typename Fill>
    void fill_gaps(i64 na, i64 nb, Fill&& fill) {
        found_.clear();
        i64 i = 0, j = 0;
        for (const Block& block : blocks_) {
            if (i < block.left && j < block.right) fill(Gap{i, block.left, j, block.right});
            add(found_, block.left, block.right, block.length);
            i = block.left_end();
            j = block.right_end();
        }
        if (i < na && j < nb) fill(Gap{i, na, j, nb});
        std::swap(blocks_, found_);
    }

    // Adds the blocks of one gap: the heaviest rising chain of runs that are too long for chance. Whether there are
    // any.
    bool tile(Tokens a, Tokens b, const Gap& gap, double p) {
        const i64 na = gap.i_end - gap.i, nb = gap.j_end - gap.j;
        const double cells = static_cast<double>(na) * static_cast<double>(nb);
        const auto size = 2 + static_cast<i64>(std::ceil(1.5 * std::log(cells) / -std::log(p)));
        if (std::min(na, nb) < size) return false;
        const auto at = [](i64 n) { return static_cast<std::size_t>(n); };
        const std::vector<Block>& runs = runs_.find(a.subspan(at(gap.i), at(na)), b.subspan(at(gap.j), at(nb)), size);
        i64 end = 0;
        const auto take = [&](const Block& run) {
            const i64 passed = std::max<i64>(end - run.right, 0);
            add(found_, gap.i + run.left + passed, gap.j + run.right + passed, run.length - passed);
            end = run.right_end();
        };
        if (is_chain(runs, size)) {
            for (const Block& run : runs) take(run);
        } else {
            find_chain(runs, size, nb);
            for (auto c = chain_.rbegin(); c != chain_.rend(); ++c) take(runs[*c]);
        }
        return !runs.empty();
    }

    // A run may start up to size − 1 tokens before the end of the one it follows; `tile` trims it.
    static bool may_follow(const Block& before, const Block& run, i64 size) {
        return before.right_end() + 1 <= run.right + size;
    }

    // Whether all the runs follow one another, which is the usual case; no chain can be heavier.
    static bool is_chain(const std::vector<Block>& runs, i64 size) {
        for (std::size_t c = 1; c < runs.size(); ++c) {
            if (!may_follow(runs[c - 1], runs[c], size)) return false;
        }
        return true;
    }

    // The rising chain with most tokens into chain_, from last to first.
    //
    // The heaviest chain that ends at or before each position of b is in a Fenwick tree of maxima.
    void find_chain(const std::vector<Block>& runs, i64 size, i64 nb) {
        constexpr std::size_t NONE = ~std::size_t{0};
        const i64 nodes = nb + size + 2;
        tree_.assign(static_cast<std::size_t>(nodes), Best{0, NONE});
        before_.resize(runs.size());
        i64 heaviest = 0;
        std::size_t last = NONE;
        for (std::size_t c = 0; c < runs.size(); ++c) {
            Best best{0, NONE};
            for (i64 at = runs[c].right + size; at > 0; at -= at & -at) {
                const Best& here = tree_[static_cast<std::size_t>(at)];
                if (here.weight > best.weight) best = here;
            }
            before_[c] = best.run;
            const i64 weight = best.weight + runs[c].length;
            if (weight > heaviest) {
                heaviest = weight;
                last = c;
            }
            for (i64 at = runs[c].right_end() + 1; at < nodes; at += at & -at) {
                Best& here = tree_[static_cast<std::size_t>(at)];
                if (weight > here.weight) here = {weight, c};
            }
        }
        chain_.clear();
        for (std::size_t c = last; c != NONE; c = before_[c]) chain_.push_back(c);
    }

    // Join a block to a longer neighbour where only one side has a gap between them and the text allows it.
    //
    // Of "the cat and the dog" and "the dog", the first "the" may be aligned or the second: the second, which is
    // with "dog", leaves one block instead of two.
    void slide(Tokens a, Tokens b) {
        const auto equal = [&](i64 i, i64 j, i64 n) {
            return equal_tokens(a.data() + i, b.data() + j, n) == n;
        };
        std::size_t kept = 0;
        for (std::size_t c = 0; c < blocks_.size(); ++c) {
            Block block = blocks_[c];
            while (kept > 0) {
                Block& before = blocks_[kept - 1];
                if (before.left_end() < block.left && before.right_end() < block.right) break;
                if (before.length < block.length &&
                    equal(block.left - before.length, block.right - before.length, before.length)) {
                    block = {block.left - before.length, block.right - before.length, block.length + before.length};
                    --kept;
                    continue;
                }
                if (block.length <= before.length && equal(before.left_end(), before.right_end(), block.length)) {
                    before.length += block.length;
                    block.length = 0;
                }
                break;
            }
            if (block.length > 0) blocks_[kept++] = block;
        }
        blocks_.resize(kept);
    }

    // Whether an agreement of few tokens between longer changes should not count.
    //
    // With `edges` that holds for a block at the edge of both documents too, beside a change that is much longer: every
    // story of a news agency ends with its name.
    static bool is_chance(i64 length, i64 before, i64 after, bool edges) {
        if (length > CHANCE) return false;
        if (edges && std::min(before, after) == 0) return std::max(before, after) > EDGE * length;
        return std::min(before, after) > length;
    }

    // Remove chance agreements, first from left to right, then back, each time without those already removed.
    void drop_chance(i64 na, i64 nb, bool edges) {
        const auto stays = [&](const Block& block, i64 end_a, i64 end_b, i64 next_a,
                               i64 next_b) {
            const i64 before = std::max(block.left - end_a, block.right - end_b);
            const i64 after = std::max(next_a - block.left_end(), next_b - block.right_end());
            return !is_chance(block.length, before, after, edges);
        };
        std::size_t kept = 0;
        const std::size_t n = blocks_.size();
        for (std::size_t c = 0; c < n; ++c) {
            const Block block = blocks_[c];
            const Block before = kept > 0 ? blocks_[kept - 1] : Block{0, 0, 0};
            const Block next = c + 1 < n ? blocks_[c + 1] : Block{na, nb, 0};
            if (stays(block, before.left_end(), before.right_end(), next.left, next.right)) blocks_[kept++] = block;
        }
        std::size_t first = kept;  // blocks_[first : kept] are kept on the way back
        for (std::size_t c = kept; c-- > 0;) {
            const Block block = blocks_[c];
            const Block before = c > 0 ? blocks_[c - 1] : Block{0, 0, 0};
            const Block next = first < kept ? blocks_[first] : Block{na, nb, 0};
            if (stays(block, before.left_end(), before.right_end(), next.left, next.right)) blocks_[--first] = block;
        }
        blocks_.resize(kept);
        blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(first));
    }

    struct Best {
        i64 weight;
        std::size_t run;
    };

    SharedRuns runs_;
    EditScripts scripts_;
    std::vector<Block> blocks_, found_;
    std::vector<Gap> barren_;
    std::vector<Best> tree_;
    std::vector<std::size_t> before_, chain_;
};

}  // namespace roughly::alignment
