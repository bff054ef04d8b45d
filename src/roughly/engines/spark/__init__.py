"""The same plan on Apache Spark. Nothing here is imported, and no Spark is needed, until a run asks for it."""
