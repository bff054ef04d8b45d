"""How fast and how right Roughly is, beside its peers, on the same machine and the same documents.

`python -m benchmarks` prints the tables; README.md says how to read them. Nothing here is imported by
the package. This file and `tokens.py` need only the standard library, because every peer runs them inside
its own virtual environment.
"""
