"""Words that specs, plans and stages share. No stage has to import the specs to know them."""

from __future__ import annotations

#: The extractor whose readings are classes of failure: what it finds goes into the other scores.
CLASSIFIER = "failure_class"
#: What stands for a model in the columns of a sweep.
POINTS = ("previous", "argmin", "adopted")
#: The fit of models that do not say what their grey levels are linear in; `native` goes by model.
NATIVE_DEFAULT = "depth"

#: The long side at which inputs are sent, where a benchmark says nothing else (ProbeGen 4.1).
LONG_SIDE_PX = 1024

#: As a setting: recorded as what was asked for, and sent as nothing; the provider decides.
PROVIDER_DEFAULT = "provider_default"
#: What papers lost stands under this prefix; it is the same setting.
ASSUMED = "assumed_"
