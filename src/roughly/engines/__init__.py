"""Batch engines: the relational steps of the plan, on one machine or many."""
