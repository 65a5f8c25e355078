"""The only place that opens, orients, mattes, resizes or encodes a picture."""

from gensight.images.arrays import decode_array, encode_array
from gensight.images.decode import (
    decode_colour,
    decode_grey,
    decode_rgb,
    orient_picture,
    to_eight_bits,
    to_grey,
)
from gensight.images.encode import encode_jpeg, encode_png
from gensight.images.kinds import EXTENSIONS, MAX_PIXELS, PictureInfo, inspect
from gensight.images.masks import (
    decode_mask,
    decode_window,
    encode_mask,
    polygons_to_mask,
    read_mask,
)
from gensight.images.resize import (
    LONG_SIDE,
    fit_long_side,
    move_points,
    resize_depth,
    resize_labels,
    resize_mask,
    resize_picture,
    resize_window,
)
from gensight.images.standard import standardise
from gensight.images.windows import MaskWindow

__all__ = [
    "EXTENSIONS",
    "LONG_SIDE",
    "MAX_PIXELS",
    "MaskWindow",
    "PictureInfo",
    "decode_array",
    "decode_colour",
    "decode_grey",
    "decode_mask",
    "decode_rgb",
    "decode_window",
    "encode_array",
    "encode_jpeg",
    "encode_mask",
    "encode_png",
    "fit_long_side",
    "inspect",
    "move_points",
    "orient_picture",
    "polygons_to_mask",
    "read_mask",
    "resize_depth",
    "resize_labels",
    "resize_mask",
    "resize_picture",
    "resize_window",
    "standardise",
    "to_eight_bits",
    "to_grey",
]
