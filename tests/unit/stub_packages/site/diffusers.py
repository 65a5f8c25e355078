"""Loaders of FLUX.1-dev, as the wrapper of Lotus-2 uses them."""

import logging
import os

logger = logging.getLogger("diffusers")
logger.propagate = False
logger.addHandler(logging.StreamHandler())


class _Loaded:
    def __init__(self, name, **options):
        self.name, self.options = name, options

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, **options):
        if os.environ.get("STUB_MISFIT"):
            logger.warning("Some weights of the model checkpoint were not used when initializing")
        return cls(pretrained_model_name_or_path, **options)

    def requires_grad_(self, requires_grad):
        assert not requires_grad

    def to(self, device, dtype=None):
        self.device, self.dtype = device, dtype or getattr(self, "dtype", None)
        return self


class FlowMatchEulerDiscreteScheduler(_Loaded):
    pass


class FluxTransformer2DModel(_Loaded):
    pass


class FluxPipeline(_Loaded):
    pass
