from pathlib import Path


def load_file(filename):
    """Return what a file names: one tensor a line."""
    return dict.fromkeys(Path(filename).read_text().split())
