"""Property tests draw the same examples in every run: what is green stays green.

`HYPOTHESIS_PROFILE=explore` draws new ones; what it finds becomes an `@example`.
"""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
