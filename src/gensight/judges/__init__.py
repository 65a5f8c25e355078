"""Judges: models that look at an answer and give points by a rubric.

    pictures    what is judged, as a picture
    questions   what a judge is asked: a rubric, filled for one answer
    attempts    how often it is asked the same
    replies     what it said: points, or why there are none
    agreement   how far runs and rivals agree

A judge is one more model that answers a request: these are the pure functions around it. A reply
that cannot be read is never a number; it is asked for again, and after that there is none.
"""
