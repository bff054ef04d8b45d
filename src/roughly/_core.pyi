"""The compiled core; written by core/tools/make_stub.py."""

from collections.abc import Sequence
from typing import Any, overload

import numpy
from numpy.typing import NDArray

def align(arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.uint64], /) -> NDArray[numpy.int64]: ...
@overload
def shared_runs(arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.uint64], arg2: int, /) -> NDArray[numpy.int64]: ...
@overload
def shared_runs(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.int64],
    arg2: int,
    arg3: NDArray[numpy.uint64],
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.int64],
    arg6: NDArray[numpy.int64],
    /,
) -> NDArray[numpy.int64]: ...
def outlines(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.int64], arg3: NDArray[numpy.int64], /
) -> NDArray[numpy.int64]: ...
def gather_tokens(
    arg0: NDArray[numpy.int32],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: int,
    /,
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64]]: ...
def gather_shingle_sets(
    arg0: NDArray[numpy.int32],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: int,
    arg5: int,
    /,
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64]]: ...
def gather_outlines(
    arg0: NDArray[numpy.int32], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.int64], arg3: int, /
) -> NDArray[numpy.int64]: ...
def copy_lines(
    arg0: int, arg1: int, arg2: NDArray[numpy.int64], arg3: NDArray[numpy.bool_], arg4: int, arg5: int, /
) -> int: ...
def parallel_shingle_sets(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], arg2: int, arg3: int, /
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64]]: ...
def facts_of(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.uint64], arg2: NDArray[numpy.uint64], arg3: int, /
) -> NDArray[numpy.uint64]: ...
def without_lone_values(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], /
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64]]: ...
def shared_facts(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.uint64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.int64],
    /,
) -> NDArray[numpy.int64]: ...
def candidate_components(
    arg0: NDArray[numpy.int64], arg1: NDArray[numpy.uint32], arg2: NDArray[numpy.int64], arg3: int, /
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64]]: ...
def linked_roots(arg0: NDArray[numpy.int32], arg1: int, arg2: int, /) -> NDArray[numpy.int32]: ...
def reorder_buckets(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.uint32],
    arg2: NDArray[numpy.bool_],
    arg3: NDArray[numpy.int64],
    arg4: int,
    /,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.uint32], NDArray[numpy.bool_]]: ...
def draw_bitmaps_of(
    arg0: object, arg1: NDArray[numpy.int64], arg2: NDArray[numpy.uint64], arg3: int, arg4: int, /
) -> None: ...
def sort_pairs(arg0: NDArray[numpy.int32], arg1: int, /) -> NDArray[numpy.int32]: ...
def resolve_components(
    arg0: NDArray[numpy.int64],
    arg1: object,
    arg2: object,
    arg3: NDArray[numpy.int32],
    arg4: object,
    arg5: NDArray[numpy.int64],
    arg6: object,
    arg7: object,
    arg8: NDArray[numpy.int64],
    arg9: int,
    /,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], int, int]: ...
def resolve_large_component(
    arg0: int,
    arg1: int,
    arg2: int,
    arg3: int,
    arg4: object,
    arg5: object,
    arg6: NDArray[numpy.int32],
    arg7: object,
    arg8: NDArray[numpy.int64],
    arg9: object,
    arg10: object,
    arg11: NDArray[numpy.int64],
    /,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], int, int]: ...
def squares(arg0: NDArray[numpy.float64], arg1: NDArray[numpy.int64], /) -> NDArray[numpy.float64]: ...
def scale(
    arg0: NDArray[numpy.float64],
    arg1: NDArray[numpy.float64],
    arg2: NDArray[numpy.uint32],
    arg3: NDArray[numpy.int64],
    /,
) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32], NDArray[numpy.int16]]: ...
def indexed_from(
    arg0: NDArray[numpy.float64], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.float64], arg3: float, /
) -> NDArray[numpy.int64]: ...
def build_index(
    arg0: NDArray[numpy.float64],
    arg1: NDArray[numpy.float64],
    arg2: tuple[
        NDArray[numpy.uint32],
        NDArray[numpy.int64],
        NDArray[numpy.float32],
        NDArray[numpy.float32],
        NDArray[numpy.int16],
    ],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.int64],
    /,
) -> tuple[NDArray[numpy.uint32], NDArray[numpy.float32], NDArray[numpy.float32], NDArray[numpy.float32]]: ...
def cosine_candidates(
    arg0: int,
    arg1: int,
    arg2: int,
    arg3: tuple[
        NDArray[numpy.uint32],
        NDArray[numpy.int64],
        NDArray[numpy.float32],
        NDArray[numpy.float32],
        NDArray[numpy.int16],
    ],
    arg4: tuple[
        NDArray[numpy.uint32],
        NDArray[numpy.int64],
        NDArray[numpy.float32],
        NDArray[numpy.float32],
        NDArray[numpy.int16],
    ],
    arg5: tuple[
        NDArray[numpy.int64],
        NDArray[numpy.uint32],
        NDArray[numpy.float32],
        NDArray[numpy.float32],
        NDArray[numpy.float32],
    ],
    arg6: float,
    /,
) -> tuple[NDArray[numpy.int64], int]: ...
def cosines(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.uint32],
    arg2: NDArray[numpy.float64],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.float64],
    arg5: NDArray[numpy.uint32],
    arg6: NDArray[numpy.float64],
    arg7: NDArray[numpy.int64],
    arg8: NDArray[numpy.float64],
    /,
) -> NDArray[numpy.float64]: ...
def largest_piece(arg0: NDArray[numpy.uint8], arg1: NDArray[numpy.int64], /) -> int: ...
def number_tokens(
    arg0: NDArray[numpy.uint8],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.uint16],
    arg3: NDArray[numpy.uint32],
    arg4: NDArray[numpy.uint64],
    arg5: NDArray[numpy.uint64],
    arg6: NDArray[numpy.uint64],
    arg7: NDArray[numpy.int64],
    arg8: NDArray[numpy.uint8],
    arg9: NDArray[numpy.uint32],
    arg10: NDArray[numpy.int64],
    arg11: NDArray[numpy.int64],
    /,
) -> int: ...
def fill_slots(arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.uint64], arg2: int, /) -> None: ...
def count_documents(
    arg0: NDArray[numpy.uint32], arg1: NDArray[numpy.int64], arg2: int, arg3: NDArray[numpy.uint64], /
) -> None: ...
def put_targets(
    arg0: NDArray[numpy.uint32],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.uint32],
    arg3: NDArray[numpy.uint32],
    arg4: NDArray[numpy.int64],
    /,
) -> None: ...
def gather_text(
    arg0: NDArray[numpy.uint8], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.int64], arg3: NDArray[numpy.uint8], /
) -> None: ...
def classify_terms(arg0: NDArray[numpy.uint8], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.uint8], /) -> None: ...
def look_up(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.uint64],
    arg2: NDArray[numpy.uint32],
    arg3: NDArray[numpy.uint32],
    arg4: int,
    /,
) -> NDArray[numpy.uint32]: ...
def spread_key(arg: int, /) -> int: ...
def mark_keys(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.uint32],
    arg2: int,
    arg3: int,
    arg4: NDArray[numpy.uint64],
    arg5: NDArray[numpy.uint64],
    /,
) -> None: ...
def count_shared(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.uint32], arg2: int, arg3: int, arg4: NDArray[numpy.uint64], /
) -> int: ...
def select_shared(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.uint32],
    arg2: int,
    arg3: int,
    arg4: NDArray[numpy.uint64],
    arg5: int,
    arg6: int,
    /,
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint32]]: ...
def sort_rows(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.uint32], arg2: int, /
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint32]]: ...
def find_buckets(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.uint32], arg2: bool, arg3: int, /
) -> tuple[NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.uint64], int]: ...
def add_to_table(arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.uint64], /) -> NDArray[numpy.bool_]: ...
def members_of_used(
    arg0: NDArray[numpy.uint32], arg1: NDArray[numpy.uint32], arg2: NDArray[numpy.bool_], /
) -> NDArray[numpy.uint32]: ...
def count_members(arg0: NDArray[numpy.uint32], arg1: NDArray[numpy.int64], /) -> None: ...
def transpose(
    arg0: NDArray[numpy.int64], arg1: NDArray[numpy.uint32], arg2: NDArray[numpy.bool_], arg3: int, arg4: int, /
) -> tuple[NDArray[numpy.int64], NDArray[numpy.uint32], NDArray[numpy.bool_]]: ...
def find_marked(arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.uint64], /) -> NDArray[numpy.bool_]: ...
def line_ends(arg: NDArray[numpy.uint8], /) -> NDArray[numpy.int64]: ...
def find_values(
    arg0: NDArray[numpy.uint8], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.uint8], arg3: NDArray[numpy.int64], /
) -> tuple[
    NDArray[numpy.uint8], NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.uint8]
]: ...
def gather_values(
    arg0: NDArray[numpy.uint8], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.uint8], /
) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...
def read_line_range(
    arg0: bytes, arg1: int, arg2: int, arg3: int, arg4: int, /
) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], int, bool, int, int]: ...
def read_chosen_lines(
    arg0: bytes, arg1: NDArray[numpy.int64], arg2: NDArray[numpy.int64], /
) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], bool, int, int]: ...
def keep_memory(arg: int, /) -> None: ...
def release_memory() -> None: ...
def kept_memory() -> int: ...
def find_stored(
    arg0: object, arg1: NDArray[numpy.bool_], arg2: object, arg3: object, arg4: object, arg5: object, /
) -> NDArray[numpy.int64]: ...
def parquet_group_sizes(
    arg: NDArray[numpy.uint8], /
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.uint8], NDArray[numpy.int64]]: ...
def pool_squares(
    arg0: int, arg1: int, arg2: int, arg3: int, arg4: int, /
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint32]]: ...
def vector_level() -> str: ...
def set_vector_level(arg: int, /) -> str: ...
def mark_fingerprints(
    arg0: NDArray[numpy.uint32],
    arg1: NDArray[numpy.int64],
    arg2: int,
    arg3: int,
    arg4: NDArray[numpy.uint64],
    arg5: NDArray[numpy.uint64],
    arg6: int,
    /,
) -> None: ...
def mark_starts(
    arg0: NDArray[numpy.uint32],
    arg1: NDArray[numpy.int64],
    arg2: int,
    arg3: int,
    arg4: NDArray[numpy.uint64],
    arg5: NDArray[numpy.uint64],
    arg6: int,
    /,
) -> None: ...
def mark_grams(
    arg0: NDArray[numpy.uint32],
    arg1: NDArray[numpy.int64],
    arg2: int,
    arg3: NDArray[numpy.uint64],
    arg4: NDArray[numpy.uint64],
    arg5: NDArray[numpy.uint64],
    arg6: int,
    /,
) -> None: ...
def clear_starts(
    arg0: NDArray[numpy.uint32],
    arg1: NDArray[numpy.int64],
    arg2: int,
    arg3: NDArray[numpy.uint64],
    arg4: NDArray[numpy.uint64],
    arg5: int,
    /,
) -> None: ...
def append_in_pieces(arg0: int, arg1: NDArray[numpy.uint8], arg2: int, /) -> None: ...
def list_bits(arg: NDArray[numpy.uint64], /) -> NDArray[numpy.int64]: ...
def gram_keys(
    arg0: NDArray[numpy.uint32], arg1: NDArray[numpy.int64], arg2: int, arg3: int, /
) -> NDArray[numpy.uint64]: ...
def hash_numbers(arg0: NDArray[numpy.uint32], arg1: NDArray[numpy.int64], /) -> NDArray[numpy.uint64]: ...
def sort_by_share(
    arg0: NDArray[numpy.uint32],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.uint32],
    arg3: int,
    arg4: tuple[NDArray[numpy.int64], NDArray[numpy.uint32]],
    arg5: int,
    /,
) -> NDArray[numpy.int64]: ...
def first_places(arg0: NDArray[numpy.int64], arg1: int, /) -> None: ...
def put_firsts(
    arg0: NDArray[numpy.int64], arg1: NDArray[numpy.uint32], arg2: int, arg3: NDArray[numpy.int64], arg4: int, /
) -> None: ...
def check_classes(
    arg0: NDArray[numpy.uint32],
    arg1: tuple[
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        int,
        NDArray[numpy.int64],
        NDArray[numpy.uint64],
        NDArray[numpy.uint32],
    ],
    arg2: int,
    arg3: int,
    arg4: int,
    /,
) -> NDArray[numpy.int64]: ...
def mark_repeated(
    arg0: NDArray[numpy.int64], arg1: int, arg2: int, arg3: NDArray[numpy.uint64], arg4: int, /
) -> None: ...
def class_numbers(
    arg0: tuple[
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        int,
        NDArray[numpy.int64],
        NDArray[numpy.uint64],
        NDArray[numpy.uint32],
    ],
    arg1: int,
    arg2: int,
    /,
) -> NDArray[numpy.int64]: ...
def count_classes(
    arg0: NDArray[numpy.int64],
    arg1: tuple[
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        int,
        NDArray[numpy.int64],
        NDArray[numpy.uint64],
        NDArray[numpy.uint32],
    ],
    arg2: int,
    arg3: int,
    arg4: NDArray[numpy.uint32],
    arg5: NDArray[numpy.uint32],
    arg6: NDArray[numpy.uint8],
    arg7: int,
    /,
) -> None: ...
def list_passages(
    arg0: tuple[
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        int,
        NDArray[numpy.int64],
        NDArray[numpy.uint64],
        NDArray[numpy.uint32],
    ],
    arg1: NDArray[numpy.uint8],
    arg2: NDArray[numpy.uint32],
    arg3: NDArray[numpy.uint32],
    arg4: NDArray[numpy.uint8],
    arg5: int,
    arg6: int,
    /,
) -> NDArray[numpy.int64]: ...
def repeated_runs(
    arg0: NDArray[numpy.int64],
    arg1: tuple[
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        int,
        NDArray[numpy.int64],
        NDArray[numpy.uint64],
        NDArray[numpy.uint32],
    ],
    arg2: NDArray[numpy.uint8],
    arg3: NDArray[numpy.int64],
    arg4: int,
    arg5: int,
    /,
) -> NDArray[numpy.int64]: ...
def walk_copies(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.uint8],
    arg3: tuple[
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        int,
        NDArray[numpy.int64],
        NDArray[numpy.uint64],
        NDArray[numpy.uint32],
    ],
    arg4: NDArray[numpy.uint8],
    arg5: tuple[NDArray[numpy.int64], NDArray[numpy.uint64]],
    arg6: tuple[int, bool],
    arg7: int,
    /,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]: ...
def find_numbers(arg0: Sequence[NDArray[numpy.uint64]], arg1: NDArray[numpy.uint64], /) -> NDArray[numpy.uint32]: ...
def add_numbers(
    arg0: Sequence[NDArray[numpy.uint64]], arg1: NDArray[numpy.uint64], arg2: NDArray[numpy.uint32], arg3: int, /
) -> tuple[int, int]: ...
def unit_ends(
    arg0: NDArray[numpy.uint8], arg1: NDArray[numpy.int64], arg2: int, /
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]: ...
def find_candidates(
    arg0: int,
    arg1: int,
    arg2: int,
    arg3: int,
    arg4: object,
    arg5: object,
    arg6: NDArray[numpy.int32],
    arg7: object,
    arg8: float,
    arg9: int,
    /,
) -> tuple[NDArray[numpy.int32], int, int]: ...
def score_pairs(
    arg0: NDArray[numpy.int32],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int64],
    arg3: object,
    arg4: object,
    arg5: float,
    /,
) -> NDArray[numpy.int32]: ...
def find_bridges(
    arg0: int,
    arg1: int,
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.uint32],
    arg4: NDArray[numpy.int32],
    arg5: int,
    /,
) -> tuple[NDArray[numpy.int32], int, int]: ...
def find_sharing_pairs(
    arg0: int,
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.uint32],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.uint32],
    arg5: int,
    /,
) -> tuple[NDArray[numpy.int64], int]: ...
def find_smaller(
    arg0: int,
    arg1: int,
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.uint32],
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.uint32],
    arg6: NDArray[numpy.bool_],
    arg7: NDArray[numpy.int64],
    arg8: NDArray[numpy.uint64],
    arg9: float,
    arg10: NDArray[numpy.int64],
    /,
) -> tuple[NDArray[numpy.int32], int]: ...
def find_larger(
    arg0: int,
    arg1: int,
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.uint32],
    arg4: NDArray[numpy.bool_],
    arg5: NDArray[numpy.int64],
    arg6: NDArray[numpy.uint32],
    arg7: NDArray[numpy.int64],
    arg8: NDArray[numpy.uint64],
    arg9: float,
    arg10: NDArray[numpy.int64],
    /,
) -> tuple[NDArray[numpy.int32], int]: ...
def posting_lists(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], /
) -> tuple[NDArray[numpy.uint32], NDArray[numpy.int64], NDArray[numpy.uint32], NDArray[numpy.uint32]]: ...
def scored_block(
    arg0: int, arg1: int, arg2: object, arg3: NDArray[numpy.int64], arg4: NDArray[numpy.float64], /
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]: ...
def threshold_clusters(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.int32],
    arg2: NDArray[numpy.float64],
    arg3: NDArray[numpy.float64],
    arg4: bool,
    arg5: NDArray[numpy.int32],
    /,
) -> None: ...
def intersections(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.int64], arg3: NDArray[numpy.int64], /
) -> NDArray[numpy.int64]: ...
def intersect_at_least(
    arg0: NDArray[numpy.uint64], arg1: int, arg2: int, arg3: int, arg4: int, arg5: int, /
) -> int: ...
def draw_bitmaps(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.uint64], arg3: int, /
) -> None: ...
@overload
def count_hashed(arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.uint8], /) -> None: ...
@overload
def count_hashed(arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.uint32], /) -> None: ...
def prefix_keys(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.uint32],
    arg3: int,
    arg4: float,
    arg5: int,
    /,
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64]]: ...
def prefix_flags(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.uint8], arg3: int, arg4: float, /
) -> NDArray[numpy.uint8]: ...
def samples(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], arg2: int, arg3: NDArray[numpy.uint64], /
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64]]: ...
def smallest(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], arg2: int, arg3: int, /
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64], NDArray[numpy.uint64]]: ...
def estimates(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.uint64],
    arg3: int,
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.int64],
    /,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.uint64]]: ...
def run_spans(
    arg0: object,
    arg1: object,
    arg2: int,
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.int64],
    /,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], int]: ...
def distinct_terms(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], /
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint32], NDArray[numpy.int64]]: ...
def rarest_terms(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.uint32],
    arg3: int,
    arg4: int,
    arg5: int,
    /,
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64], NDArray[numpy.int64]]: ...
def term_counts(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], /
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint32], NDArray[numpy.int64]]: ...
def imatch_signatures(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.uint32],
    arg3: bool,
    arg4: int,
    arg5: int,
    arg6: int,
    arg7: bool,
    arg8: int,
    arg9: float,
    arg10: bool,
    arg11: NDArray[numpy.uint64],
    arg12: int,
    arg13: int,
    /,
) -> NDArray[numpy.uint64]: ...
def set_signatures(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.uint64], /
) -> NDArray[numpy.uint64]: ...
def word_keys(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.int64],
    arg2: int,
    arg3: NDArray[numpy.uint32],
    arg4: NDArray[numpy.uint32],
    /,
) -> NDArray[numpy.uint64]: ...
def pair_keys(arg: NDArray[numpy.uint64], /) -> NDArray[numpy.uint64]: ...
def term_vectors(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.uint64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: int,
    /,
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint64]]: ...
def mix(arg: int, /) -> int: ...
def spread(arg: int, /) -> int: ...
def absorb(arg0: int, arg1: int, /) -> int: ...
def hash_bytes(arg0: NDArray[numpy.uint8], arg1: NDArray[numpy.int64], /) -> NDArray[numpy.uint64]: ...
def hash_sequences(arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], /) -> NDArray[numpy.uint64]: ...
def sort_hashes(arg: NDArray[numpy.uint64], /) -> NDArray[numpy.uint64]: ...
def shingle_sets(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], arg2: int, /
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64]]: ...
def signatures(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.int64],
    arg2: int,
    arg3: NDArray[numpy.uint32],
    arg4: NDArray[numpy.uint32],
    arg5: int,
    /,
) -> NDArray[numpy.uint32]: ...
def band_keys(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.int64],
    arg2: int,
    arg3: NDArray[numpy.uint32],
    arg4: NDArray[numpy.uint32],
    arg5: int,
    arg6: int,
    /,
) -> NDArray[numpy.uint64]: ...
def gather_ranges(
    arg0: NDArray[numpy.uint64], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.int64], /
) -> NDArray[numpy.uint64]: ...
def tally_trials(
    arg0: NDArray[numpy.uint64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: int,
    arg5: NDArray[numpy.float64],
    arg6: NDArray[numpy.int64],
    arg7: NDArray[numpy.int64],
    arg8: NDArray[numpy.int64],
    /,
) -> None: ...
def tokenise(
    arg0: NDArray[numpy.uint8], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.uint16], arg3: NDArray[numpy.uint32], /
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64]]: ...
def characters(
    arg0: NDArray[numpy.uint8], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.uint16], arg3: NDArray[numpy.uint32], /
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64]]: ...
def sign_texts(
    arg0: NDArray[numpy.uint8],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.uint16],
    arg3: NDArray[numpy.uint32],
    arg4: int,
    arg5: NDArray[numpy.uint32],
    arg6: NDArray[numpy.uint32],
    arg7: int,
    arg8: int,
    /,
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint64], NDArray[numpy.uint64], NDArray[numpy.int64]]: ...
def token_spans(
    arg0: NDArray[numpy.uint8], arg1: NDArray[numpy.uint16], arg2: NDArray[numpy.uint32], /
) -> NDArray[numpy.int64]: ...
