"""Verilog: hardware described in words, judged by equivalence with a reference."""
