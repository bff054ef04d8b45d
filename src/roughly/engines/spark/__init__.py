"""The same plan on Apache Spark. Nothing here is imported, and Spark is not needed, unless a run uses it."""
