"""The report of a study: tables and statistics (pure), figures, and the files written."""
