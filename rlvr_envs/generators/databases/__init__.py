"""SQL: databases by theme, questions in words and as queries, and the judge of answers."""
