class ImageTransform:
    def __init__(self, max_image_size, min_image_size, image_stride):
        self.sizes = (max_image_size, min_image_size, image_stride)
