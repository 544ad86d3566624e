"""Data sets of others, read into one form: programs, questions, documents, hardware."""
