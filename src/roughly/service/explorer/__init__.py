"""The explorer: pages for people, one a file, each with a twin for programs at the same address plus `.json`."""
