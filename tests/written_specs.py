"""Specs of models, written into the current folder as a checkout has them."""

from pathlib import Path

import yaml


def write_spec(model, spec):
    """Write the spec of a model."""
    path = Path("config/models") / f"{model}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({"display": {"label": model}, **spec}))
