"""A hub whose repositories are folders below STUB_HUB; a download adds its name to a list."""

import os
from pathlib import Path

COMMIT = "c0ffee" * 6 + "c0ff"


def snapshot_download(repo_id, revision=None):
    assert revision == "main"
    hub = Path(os.environ["STUB_HUB"])
    folder = hub / repo_id.replace("/", "--") / COMMIT
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)
