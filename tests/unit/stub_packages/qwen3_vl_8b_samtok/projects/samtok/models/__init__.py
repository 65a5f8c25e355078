import numpy as np
from PIL import Image
from torch import Tensor


class SAM2Config:
    def __init__(self, ckpt_path="sam2.1_hiera_large.pt"):
        assert ckpt_path.endswith("/sam2.1_hiera_large.pt")


class VQ_SAM2Config:
    def __init__(self, sam2_config, codebook_size, codebook_depth, shared_codebook, latent_dim):
        assert (codebook_size, codebook_depth, shared_codebook, latent_dim) == (256, 2, False, 256)


class VQ_SAM2:
    dtype, device = "float32", "cuda"

    def __init__(self, config):
        self.state = None

    def load_state_dict(self, state):
        self.state = state

    def to(self, device):
        return self

    def eval(self):
        return self

    def forward_with_codes(self, pixel_values, quant_codes):
        """Return a quarter of the picture for each pair of codes; -1 is nothing."""
        assert self.state is not None
        count = len(quant_codes.array)
        assert pixel_values.shape == (count, 3, 1024, 1024)
        masks = np.zeros((count, 1, 8, 8), np.float32)
        for mask, (first, second) in zip(masks, quant_codes.array):  # noqa: B905
            if first == 13:
                mask[:] = np.nan
            if second >= 0:
                mask[0, first % 2 * 4 :][:4, second % 2 * 4 :][:, :4] = 1
        return Tensor(masks)


class DirectResize:
    def __init__(self, target_length):
        self.side = target_length

    def apply_image(self, image):
        return np.array(Image.fromarray(image).resize((self.side, self.side)))
