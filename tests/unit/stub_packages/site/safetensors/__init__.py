from contextlib import contextmanager
from pathlib import Path


@contextmanager
def safe_open(filename, framework):
    """Open what a file names: one tensor a line."""
    assert framework == "pt"
    yield dict.fromkeys(Path(filename).read_text().split())
