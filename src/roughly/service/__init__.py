"""The HTTP API and the explorer, in front of a run, an index, or both. FastAPI lives here and nowhere else."""
