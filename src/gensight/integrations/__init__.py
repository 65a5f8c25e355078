"""Scorers for other evaluation harnesses: gensight's extractors, measures and metrics in theirs.

One module for each harness, thin: no number is computed here. The harness is imported when one of
its scorers is made, never before.
"""
