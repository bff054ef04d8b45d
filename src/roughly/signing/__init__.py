"""Signing: from texts to digests, keys and sketches, in one place for batch, index, results, tools, papers and Spark.

`text_batch` signs a batch of texts in memory. Signatures are data, too: `sign_files` writes what a method keeps of
documents to one Parquet file (`signature_file`), and `sketching` makes the sketches that `roughly sketch` stores. A
search engine or a database may keep them, compare them and throw the texts away; `roughly cluster` groups them.
"""
