"""Measuring and tuning: how well sampled detection does against unsampled detection, and which settings follow."""
