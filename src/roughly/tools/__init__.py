"""Tools other than dedupe: each folder has its logic, request, command and result."""
