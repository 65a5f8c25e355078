def build_image(image, cfg, tokenizer, vq_model):
    assert (image.mode, cfg.image_area) == ("RGB", 1048576) and vq_model.decoder
    return f"[picture {image.width}*{image.height}]"
