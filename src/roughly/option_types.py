"""Types of the keyword options of functions, written by `python docs/make_option_types.py`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from roughly.lexicon.lexicon import Lexicon


class DedupeOptions(TypedDict, total=False):
    """Options of `dedupe`."""

    threshold: float
    recall: float
    measure: str
    method: str
    shingle_size: int
    shingle_unit: str
    verdict: str | None
    bands: int | None
    rows: int | None
    seed: int
    verify: bool
    keep: str | Sequence[str]
    cluster: str
    pairs: str
    pairs_limit: int
    markup: str
    main_text: bool
    tokens: str
    on_duplicate_id: str
    date_format: str | None
    features: str | None
    sketch: str | None
    groups: str | Sequence[Sequence[float]] | None
    common: int | None
    ignore_common: bool | None
    super_size: int | None
    meta: str | None
    short: str | None
    judge: str | None
    mega_groups: int | None
    mega_samples: int | None
    lsh_words: int | None
    lsh_signatures: int | None
    filter: str | None
    lexicon: str | os.PathLike[str] | Lexicon | None
    norm: str | None
    lexicons: int | None
    dropped: float | None
    min_terms: int | None
    min_share: float | None
    secondary: bool | None
    unsigned: str | None
    key_file: str | os.PathLike[str] | None
    terms: int | None
    most_idf: float | None
    bin: int | None
    lengths: float | str | None
    min_df: int | None
    shared: int | None
    dates: int | str | None
    text_column: str | None
    id_column: str | None
    title_column: str | None
    url_column: str | None
    date_column: str | None
    source_column: str | None
    format: str | None
    batch_size: int | None
    largest_record: int | str | None
    largest_ratio: int
    memory: int | str
    threads: int
    temp: str | os.PathLike[str] | None
    temp_limit: int | str | None
    preset: str | None
    settings: str | os.PathLike[str] | None
    master: str | None
    progress: bool | None
    only_against: bool


class SettingsOptions(TypedDict, total=False):
    """Options of `group_results`."""

    threshold: float
    recall: float
    measure: str
    method: str
    shingle_size: int
    shingle_unit: str
    verdict: str | None
    bands: int | None
    rows: int | None
    seed: int
    verify: bool
    keep: str | Sequence[str]
    cluster: str
    pairs: str
    pairs_limit: int
    markup: str
    main_text: bool
    tokens: str
    on_duplicate_id: str
    date_format: str | None
    features: str | None
    sketch: str | None
    groups: str | Sequence[Sequence[float]] | None
    common: int | None
    ignore_common: bool | None
    super_size: int | None
    meta: str | None
    short: str | None
    judge: str | None
    mega_groups: int | None
    mega_samples: int | None
    lsh_words: int | None
    lsh_signatures: int | None
    filter: str | None
    lexicon: str | os.PathLike[str] | Lexicon | None
    norm: str | None
    lexicons: int | None
    dropped: float | None
    min_terms: int | None
    min_share: float | None
    secondary: bool | None
    unsigned: str | None
    key_file: str | os.PathLike[str] | None
    terms: int | None
    most_idf: float | None
    bin: int | None
    lengths: float | str | None
    min_df: int | None
    shared: int | None
    dates: int | str | None


class IndexOptions(TypedDict, total=False):
    """Options of `Index`, `Index.create`."""

    threshold: float
    recall: float
    measure: str
    method: str
    shingle_size: int
    shingle_unit: str
    verdict: str | None
    bands: int | None
    rows: int | None
    seed: int
    verify: bool
    keep: str | Sequence[str]
    cluster: str
    pairs: str
    pairs_limit: int
    markup: str
    main_text: bool
    tokens: str
    on_duplicate_id: str
    date_format: str | None
    features: str | None
    sketch: str | None
    groups: str | Sequence[Sequence[float]] | None
    common: int | None
    ignore_common: bool | None
    super_size: int | None
    meta: str | None
    short: str | None
    judge: str | None
    mega_groups: int | None
    mega_samples: int | None
    lsh_words: int | None
    lsh_signatures: int | None
    filter: str | None
    norm: str | None
    lexicons: int | None
    dropped: float | None
    min_terms: int | None
    min_share: float | None
    secondary: bool | None
    unsigned: str | None
    key_file: str | os.PathLike[str] | None
    terms: int | None
    most_idf: float | None
    bin: int | None
    lengths: float | str | None
    min_df: int | None
    shared: int | None
    dates: int | str | None


class ReadingOptions(TypedDict, total=False):
    """Options of `Sweeps.add`."""

    text_column: str | None
    id_column: str | None
    title_column: str | None
    url_column: str | None
    date_column: str | None
    source_column: str | None
    features: str | None
    format: str | None
    markup: str
    batch_size: int | None
    largest_record: int | str | None
    largest_ratio: int


class SketchRequestOptions(TypedDict, total=False):
    """Options of `sketch`."""

    sketch: Any
    groups: Sequence[Sequence[float]]
    shingle_size: int
    seed: int
    main_text: bool
    text_column: str | None
    id_column: str | None
    title_column: str | None
    url_column: str | None
    date_column: str | None
    source_column: str | None
    features: str | None
    format: str | None
    markup: str
    batch_size: int | None
    largest_record: int | str | None
    largest_ratio: int
    memory: int | str
    threads: int
    temp: str | os.PathLike[str] | None


class ReclusterRunOptions(TypedDict, total=False):
    """Options of `recluster`."""

    threshold: float | None
    measure: str | None
    cluster: str
    common: int | None
    pairs: str
    shingle_size: int | None
    main_text: bool | None
    text_column: str | None
    id_column: str | None
    title_column: str | None
    url_column: str | None
    date_column: str | None
    source_column: str | None
    features: str | None
    format: str | None
    markup: str
    batch_size: int | None
    largest_record: int | str | None
    largest_ratio: int
    memory: int | str
    threads: int
    temp: str | os.PathLike[str] | None


class FeatureRequestOptions(TypedDict, total=False):
    """Options of `cluster_features`."""

    threshold: float
    measure: str
    shingle_size: int
    sketch: str
    groups: Sequence[Sequence[float]]
    common: int
    cluster: str
    pairs: str
    id_column: str
    features_column: str
    memory: int | str
    threads: int
    temp: str | os.PathLike[str] | None


class PassagesRunOptions(TypedDict, total=False):
    """Options of `passages`."""

    unit: str
    least: int | None
    preset: str | None
    gap: int
    do: str
    times: int
    documents: int
    sources: int
    site_share: float
    keep: str | Sequence[str]
    least_left: int
    date_format: str | None
    text_column: str | None
    id_column: str | None
    title_column: str | None
    url_column: str | None
    date_column: str | None
    source_column: str | None
    format: str | None
    markup: str
    batch_size: int | None
    largest_record: int | str | None
    largest_ratio: int
    memory: int | str
    threads: int
    temp: str | os.PathLike[str] | None
    temp_limit: int | str | None


class TruthRunOptions(TypedDict, total=False):
    """Options of `truth`."""

    measure: str
    threshold: float
    shingle_size: int
    weights: str
    lexicon: Any
    main_text: bool
    empty: bool
    pairs_limit: int
    text_column: str | None
    id_column: str | None
    title_column: str | None
    url_column: str | None
    date_column: str | None
    source_column: str | None
    features: str | None
    format: str | None
    markup: str
    batch_size: int | None
    largest_record: int | str | None
    largest_ratio: int
    memory: int | str
    threads: int
    temp: str | os.PathLike[str] | None


class EvaluateRequestOptions(TypedDict, total=False):
    """Options of `evaluate`."""

    by: str
    unlisted: str | None
    label_columns: Sequence[str] | str
    same_column: str | None
    resemblance_column: str | None
    ignore_unknown: bool
    lists: str | os.PathLike[str] | None
    list_length: int
    cost: float
    draws: int
    level: float
    seed: int


class TuneQuestionOptions(TypedDict, total=False):
    """Options of `tune`."""

    labels: str | os.PathLike[str] | None
    label_column: str | None
    complete: bool
    unlisted: str | None
    label_columns: Sequence[str] | str
    same_column: str | None
    ignore_unknown: bool
    learn: bool
    precision: float | None
    recall: float | None
    slack: float | None
    methods: Sequence[str] | str
    values: Mapping[str, Sequence[Any]] | None
    sample: int | None
    held_back: float | None
    budget: float | None
    seed: int | None
    threshold: float | None
    shingle_size: int | None
    main_text: bool
    date_format: str | None
    text_column: str | None
    id_column: str | None
    title_column: str | None
    url_column: str | None
    date_column: str | None
    source_column: str | None
    features: str | None
    format: str | None
    markup: str
    batch_size: int | None
    largest_record: int | str | None
    largest_ratio: int
    memory: int | str
    threads: int
    temp: str | os.PathLike[str] | None


class SuggestRequestOptions(TypedDict, total=False):
    """Options of `suggest`."""

    sample: int
    pairs: int
    seed: int
    main_text: bool
    text_column: str | None
    id_column: str | None
    format: str | None
    markup: str
    threads: int


class PerturbedFolderOptions(TypedDict, total=False):
    """Options of `perturb`."""

    kinds: Any
    alpha: float
    every: int
    added: str
    versions: int
    copies: int
    documents: int
    seed: int
    originals: bool
    shingle_size: int
    format: str
    text_column: str | None


class AuditRequestOptions(TypedDict, total=False):
    """Options of `audit_qrels`, `audit_labels`, `audit_leaks`."""

    threshold: float
    shingle_size: int
    main_text: bool
    pairs_limit: int
    passages: int
    text_column: str | None
    id_column: str | None
    title_column: str | None
    url_column: str | None
    date_column: str | None
    source_column: str | None
    features: str | None
    format: str | None
    markup: str
    batch_size: int | None
    largest_record: int | str | None
    largest_ratio: int
    memory: int | str
    threads: int
    temp: str | os.PathLike[str] | None
