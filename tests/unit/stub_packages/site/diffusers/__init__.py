"""Loaders of FLUX.1-dev, as the wrapper of Lotus-2 uses them."""

import logging
import os
from pathlib import Path

from coders import Coder
from transformers import PreTrainedModel

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


class ModelMixin(_Loaded):
    @classmethod
    def from_pretrained(cls, *arguments, output_loading_info=False, **options):
        model = super().from_pretrained(*arguments, **options)
        lacks = [key for key in os.environ.get("STUB_LACKS", "").split() if key.startswith("flux.")]
        return (model, {"missing_keys": lacks}) if output_loading_info else model


class FluxTransformer2DModel(ModelMixin):
    adapters = ()

    def state_dict(self):
        names = ["blocks.0.to_k.lora_A.{}.weight", "blocks.0.to_k.lora_B.{}.weight"]
        found = [name.format(adapter) for adapter in self.adapters for name in names]
        return dict.fromkeys(["blocks.0.to_k.base_layer.weight", *found])


class AutoencoderKL(ModelMixin, Coder):
    def __init__(self, name, **options):
        super().__init__(name, **options)
        Coder.__init__(self)


class FluxPipeline(_Loaded):
    def __init__(self, name, **options):
        super().__init__(name, **options)
        self.vae = AutoencoderKL.from_pretrained(name)
        self.text_encoder = PreTrainedModel.from_pretrained(name)

    @staticmethod
    def lora_state_dict(path):
        return dict.fromkeys(Path(path).read_text().split())
