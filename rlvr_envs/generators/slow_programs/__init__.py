"""Slow functions in Python with fast twins, and how their time is measured."""
