"""Parameters of the papers, and verdicts learnt from public labels, by name: `--preset broder-1997`.

A preset is a set of settings, each of which may be overridden. `python -m benchmarks.verdict_presets` fits the learned
ones. Values that a paper does not state are left
to the defaults, except for the size of shingles in `ye-2008`: the paper says "a moderate w", and 10 is Broder's.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from roughly.errors import SettingsError, did_you_mean
from roughly.fast_dataclass import dataclass

_BRODER = "A. Z. Broder, S. C. Glassman, M. S. Manasse, G. Zweig: Syntactic clustering of the Web. WWW6, 1997"
_IMATCH = (
    "A. Chowdhury, O. Frieder, D. Grossman, M. C. McCabe: Collection statistics for fast duplicate document detection. "
    "ACM TOIS 20(2), 2002"
)
_CONRAD = (
    "J. G. Conrad, X. S. Guo, C. P. Schriber: Online duplicate document detection: signature reliability in a dynamic "
    "retrieval environment. CIKM 2003"
)
_KOLCZ = (
    "A. Kołcz, A. Chowdhury: Lexicon randomization for near-duplicate detection with I-Match. Journal of "
    "Supercomputing, 2008"
)
_YE = (
    "S. Ye, J.-R. Wen, W.-Y. Ma: A systematic study on parameter correlations in large-scale duplicate document "
    "detection. Knowledge and Information Systems, 2008"
)

_VERSIONS = (
    "probability=0.2 prior=-10.715 words=2.3795/0.56634 word_pairs=2.5609/1.8489 words_held=0.67754/0.28516 "
    "shingles_held=0/1.1731 numbers=0/1.3119 length=0.75414/0 weighted_words=1.1373/0 in_order=0/0.5738"
)
_PAGES = (
    "probability=0.35 prior=-10.472 words=0.65034/0.56577 word_pairs=0.59505/0.89707 shingles=0.53006/1.4688 "
    "shingles_held=0.65688/1.1683 rare_words=0.54218/0.44056 numbers=0.15456/0 length=1.1691/0.70067 "
    "weighted_words=0.70115/0.59213 longest_run=0.23822/0.83379 in_order=0.81538/1.4986"
)
_RECORDS = (
    "probability=0.9 prior=-19.065 word_pairs=0/6.4588 rare_words=0.69667/0 rare_words_held=0/0.47115 "
    "numbers=3.3323/0.49954 length=5.6557/1.5568 weighted_words=5.6729/3.7745"
)
_ABSTRACTS = (
    "probability=0.55 prior=-11.94 words=1.6746/0.57724 word_pairs=2.6663/1.0434 shingles=2.0147/0.45479 "
    "words_held=0.55811/0.20224 shingles_held=0.86017/0 rare_words=0.72422/0.3093 numbers=0.0069798/0.15653 "
    "length=0.44262/0.18157 weighted_words=1.3804/0.51026 weighted_words_held=0.075189/0.062777 "
    "longest_run=1.5859/0.98765 in_order=1.0207/0"
)
_NEWS = (
    "probability=0.4 prior=-11.579 words=1.0738/0.1046 word_pairs=2.1157/0.47191 shingles=1.8083/0.080208 "
    "words_held=1.0849/0.37865 shingles_held=1.5946/0.32655 rare_words=0.060979/0.15211 rare_words_held=0.13975/0.4678 "
    "numbers=0.6591/0.020993 weighted_words=0.82465/0.072028 weighted_words_held=0.67399/0.28321 "
    "longest_run=1.8854/0.90697 in_order=1.7457/0.26252"
)


@dataclass(frozen=True)
class Preset:
    """Settings as a paper has them, or with a verdict learnt from labels."""

    name: str
    settings: MappingProxyType[str, Any]
    citation: str
    about: str


def _preset(name: str, about: str, citation: str, **settings: Any) -> Preset:
    return Preset(name, MappingProxyType(settings), citation, about)


PRESETS = {
    preset.name: preset
    for preset in (
        _preset(
            "broder-1997", "DSC as run on 30 million pages", f"{_BRODER}, §3, §5.1, §7",
            method="shingles", measure="resemblance", shingle_size=10, sketch="mod:25", threshold=0.5, common=1000,
            ignore_common=True, cluster="components",
        ),
        _preset(
            "broder-1997-super", "DSC-SS: one super shingle in common", f"{_BRODER}, §5.3",
            method="super-shingles", shingle_size=10, sketch="mod:25", super_size=4, short="sample",
        ),
        _preset(
            "broder-1997-lengths", "V_i: sketches of bounded size for documents of any length", f"{_BRODER}, §3",
            method="shingles", measure="resemblance", shingle_size=10, sketch="adaptive", threshold=0.5, common=1000,
        ),
        _preset(
            "ye-2008", "the ratios that the paper gives for precision 0.8 at threshold 0.6", f"{_YE}, §6",
            method="shingles", measure="resemblance", shingle_size=10, sketch="adaptive", threshold=0.6,
            groups=[[500, 0.125], [1000, 0.0625]],
        ),
        _preset(
            "imatch-2002", "I-Match with the filter that found most", f"{_IMATCH}, §4.3, §5",
            method="imatch", filter="IDF-L-10", norm="imatch", lexicon="collection",
        ),
        _preset(
            "conrad-2003-rare", "length and six rare terms with their positions", f"{_CONRAD}, §5, §6.1",
            method="rare-terms", norm="conrad", terms=6, most_idf=0.8, min_df=5,
        ),
        _preset(
            "conrad-2003-vector", "date, length and sixty rare terms", f"{_CONRAD}, §5, §7",
            method="term-vector", terms=60, shared=48, dates=42, lengths=0.2, min_df=5,
        ),
        _preset(
            "kolcz-2008", "I-Match with ten randomised lexicons beside the first", f"{_KOLCZ}, §4, §6.5",
            method="imatch", filter="IDFR-I-20-80", norm="imatch", lexicons=10,
        ),
        _preset(
            "fetterly-2003", "84 min-wise samples, 6 super shingles, 15 mega shingles",
            "D. Fetterly, M. Manasse, M. Najork: On the evolution of clusters of near-duplicate web pages, LA-WEB 2003",
            method="mega-shingles", shingle_size=5, mega_groups=6, mega_samples=14,
        ),
        _preset(
            "haveliwala-2000", "125 tuples of words, then word overlap",
            "T. H. Haveliwala, A. Gionis, P. Indyk: Scalable techniques for clustering the Web. WebDB, 2000, as in "
            "A. Kołcz, A. Chowdhury: Lexicon randomization for near-duplicate detection with I-Match, 2008, §4",
            method="word-lsh", lsh_words=3, lsh_signatures=125, threshold=0.8,
        ),
        _preset(
            "versions", "learnt: another version of the same document, long or short",
            "labels of terms of service (Open Terms Archive, ODC-BY 1.0), RFCs, 20 Newsgroups, the Debian installation "
            "guide and Chinese laws",
            method="minhash", threshold=0.35, shingle_size=2, verdict=_VERSIONS,
        ),
        _preset(
            "pages", "learnt: the same page of a manual or web site in another edition",
            "labels of the Debian installation guide",
            method="minhash", threshold=0.3, shingle_size=2, verdict=_PAGES,
        ),
        _preset(
            "records", "learnt: the same thing in another catalogue, in a line of fields or a few words",
            "labels of bibliographic records (DBLP, ACM), restaurants (Fodor's, Zagat), made addresses (FEBRL), and "
            "those of versions",
            method="minhash", threshold=0.2, shingle_size=2, verdict=_RECORDS,
        ),
        _preset(
            "abstracts", "learnt: the same publication in another database",
            "labels of three searches for systematic reviews (ASySD: Hair et al. 2023)",
            method="minhash", threshold=0.55, shingle_size=2, verdict=_ABSTRACTS,
        ),
        _preset(
            "news", "learnt: the same story filed again",
            "labels of revised Reuters stories, and those of abstracts",
            method="minhash", threshold=0.15, shingle_size=2, verdict=_NEWS,
        ),
    )
}  # fmt: skip


def preset(name: str) -> Preset:
    """The preset of this name."""
    if name not in PRESETS:
        raise SettingsError(f"unknown preset {name!r}; presets are {', '.join(PRESETS)}{did_you_mean(name, PRESETS)}")
    return PRESETS[name]
