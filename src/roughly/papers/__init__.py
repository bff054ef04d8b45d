"""The papers' experiments on any corpus.

An experiment is a file in `experiments`; `roughly lab run NAME` writes its tables beside the paper's, its figures, and
which of the expected shapes hold.
"""
