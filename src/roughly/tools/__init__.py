"""Whole tools beside dedupe: each folder holds its logic, request, command and result."""
