"""As much of torch as the wrappers touch, on numpy. There is a GPU, which has used 2.5 GB."""

from contextlib import nullcontext
from pathlib import Path

import numpy

from . import nn  # noqa: F401

PEAK_BYTES = 2_500_000_000
SEEDED = []


class dtype:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"


bfloat16, float16, float32 = dtype("bfloat16"), dtype("float16"), dtype("float32")


class device:
    def __init__(self, name):
        assert name in ("cpu", "cuda")
        self.type = name


class Tensor:
    def __init__(self, array):
        self.array = numpy.asarray(array)

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: dtype(self.array.dtype))

    def isfinite(self):
        return Tensor(numpy.isfinite(self.array))

    def all(self):
        return bool(self.array.all())

    def sigmoid(self):
        with numpy.errstate(over="ignore"):
            return Tensor(1 / (1 + numpy.exp(-self.array)))

    def to(self, _where):
        return self

    def float(self):
        return Tensor(self.array.astype(numpy.float32))

    def cpu(self):
        return self

    def numpy(self):
        return self.array

    def permute(self, *axes):
        return Tensor(self.array.transpose(axes))

    def unsqueeze(self, axis):
        return Tensor(numpy.expand_dims(self.array, axis))

    def repeat(self, *times):
        return Tensor(numpy.tile(self.array, times))

    def __getitem__(self, place):
        return Tensor(self.array[place])

    def __gt__(self, other):
        return Tensor(self.array > other)


class Generator:
    def __init__(self, device):
        assert device == "cpu", "noise is made on the CPU"

    def manual_seed(self, seed):
        self.seed = seed
        return self


class cuda:
    is_available = staticmethod(lambda: True)
    get_device_name = staticmethod(lambda: "stub GPU")
    reset_peak_memory_stats = staticmethod(lambda: None)
    max_memory_allocated = staticmethod(lambda: PEAK_BYTES)


def manual_seed(seed):
    SEEDED.append(seed)


def from_numpy(array):
    return Tensor(array)


def LongTensor(numbers):
    return Tensor(numpy.array(numbers, numpy.int64))


def no_grad():
    return nullcontext()


def load(path, map_location):
    """Return what a checkpoint file names, one tensor a line; of a .pth file, below `model`."""
    assert map_location == "cpu"
    found = dict.fromkeys(Path(path).read_text().split())
    return {"model": found} if path.endswith(".pth") else found
