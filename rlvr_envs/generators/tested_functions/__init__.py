"""Functions to be tested, suites of tests that are read as data, and how good a suite is."""
