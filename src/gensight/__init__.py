"""gensight: measure what image generators and multimodal models can see, reason about and draw."""

__version__ = "0.1.0"
