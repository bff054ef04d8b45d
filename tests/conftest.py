"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
HERE = Path(__file__).resolve().parent
SLOW = (
    "benchmarks", "docs/test_docs_explorer.py", "docs/test_docs_run.py", "engines/spark", "index/test_index_kills.py",
    "service/browser", "service/test_tune_page.py", "service/test_tune_refusals.py", "verify/test_verify_corpora.py",
)  # fmt: skip
"""Folders and files whose tests take long, mostly for processes that they start: they run in `make test-all`."""
SLOW_TESTS = {
    "test_one_document_of_200_megabytes",
    "test_news_are_matched_within_six_weeks",
    "test_a_million_empty_documents",
    "test_recall_and_precision_on_newswire",
    "test_evidence_and_all_pairs_agree_on_who_stays",
    "test_markup_that_takes_too_long_is_ended_and_others_are_answered",
    "test_one_line_with_slow_markup_spoils_no_others",
    "test_connections_fit_the_file_descriptors",
    "test_a_bomb_among_texts_is_rejected_within_the_memory",
    "test_a_dictionary_that_unfolds_to_gigabytes",
    "test_a_file_that_unpacks_too_far_is_not_read_to_its_end",
    "test_hostile_documents_stay_text_on_every_page",
    "test_every_link_of_a_list_leads_somewhere",
    "test_the_compiled_targets_hold",
    "test_runs_and_requests_are_used_or_refused",
    "test_a_service_that_is_left_open_does_not_crash_the_process",
    "test_hostile_and_damaged_files_do_no_harm",
    "test_all_headers_fit_into_one_program",
    "test_intervals_hold_the_figures_and_are_quick_for_a_million",
    "test_interrupted_by_the_user",
    "test_schemathesis_finds_no_server_error",
    "test_in_every_stage_of_passages",
    "test_a_first_page_runs_with_a_plain_install",
    "test_the_explorer_is_in_a_plain_install",
    "test_the_report_on_paper",
    "test_half_sent_requests_are_closed_in_time",
    "test_a_client_has_a_quarter_of_the_connections",
    "test_the_kernel_and_its_twin_take_the_same_lines_and_find_the_same_values",
    "test_a_megabyte_against_its_edited_copy_takes_seconds_not_minutes",
    "test_versions_of_one_document_are_found",
}

DRAWN_ANEW = "ROUGHLY_NEW_DRAWS" in os.environ
"""Properties are tried with the same examples in every run, so that a change is judged by what it changed;
`make properties` draws new ones, and what it finds becomes an `@example`."""
settings.register_profile(
    "roughly",
    deadline=None,
    derandomize=not DRAWN_ANEW,
    max_examples=20 if "ROUGHLY_SANITIZED" in os.environ else 100,
)
settings.load_profile("roughly")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that take long."""
    places = [HERE / name for name in SLOW]
    for item in items:
        is_slow = any(item.path == place or place in item.path.parents for place in places)
        if is_slow or item.name.partition("[")[0] in SLOW_TESTS:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of real corpora beside the checkout; tests that need it are skipped where it is not."""
    if not CORPORA.is_dir():
        pytest.skip(f"the shared corpora are not beside this checkout ({CORPORA.name}/ is missing)")
    return CORPORA
