"""The HTTP API and the explorer, over a run, an index, or both. Only this package imports FastAPI."""
