"""Share of answers of one blind failure class, in percent; the column's `fit` names the class.

PROTOCOLS 3.3. Lower is better, since all classes but one are failures; for the share of right
answers use `right_share`, and for a diagnosis by the truth `truth_class_share`.

>>> aggregate({"hit": [1.0, 0.0, 0.0, 0.0]})
25.0
"""

from __future__ import annotations

from gensight.metrics import mean_of, part_of

VERSION = 1
MEASURE = "failure_class"
HIGHER_IS_BETTER = False
UNIT = "percent"
BOUNDS = (0.0, 100.0)
INTERVAL = "rate"
RANKED = False

value = part_of("hit", scale=100)
aggregate = mean_of(value)
