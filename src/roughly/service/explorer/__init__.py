"""The explorer: one page per file, each with a JSON twin for programs at the same address plus `.json`."""
