"""The paper's experiments on its collection of data sets: exact, resumable, repeatable."""
