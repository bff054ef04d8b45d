"""Steps of pipelines: the rows that are kept, as one callable for datasets, scikit-learn, datatrove and Spark."""
