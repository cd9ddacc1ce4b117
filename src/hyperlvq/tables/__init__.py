"""Tables of people who have a file and no wish to write Python: CSV, gzip, Parquet."""
