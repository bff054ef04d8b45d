"""Signing: from texts to digests, keys and sketches, in one place for batch, index, results, tools, papers and Spark.

`text_batch` signs a batch of texts in memory. `sign_files` writes the signatures of documents to one Parquet file
(`signature_file`), and `sketching` makes the sketches that `roughly sketch` stores. A search engine or a database may
store and compare them without the texts; `roughly cluster` groups them.
"""
