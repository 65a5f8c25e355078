"""The plan of a run: its cells, the file of every step, and what determines each file.

Everything here follows from the specs alone. No data set, adapter or array library is touched,
so that a dry run is quick and works anywhere.
"""

from gensight.plan.cells import Cell
from gensight.plan.determinants import STAGE_VERSIONS, STAGES
from gensight.plan.files import Plan, PlannedFile

__all__ = ["STAGES", "STAGE_VERSIONS", "Cell", "Plan", "PlannedFile"]
