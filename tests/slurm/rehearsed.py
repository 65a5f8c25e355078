"""An adapter that fails at its first try as its settings say; laid into a checkout's own library.

It notes every question that it answered in rehearsals/{name}/answered, one line each: a digest of
the question, and the job. A question that stands there twice was asked twice.
"""

import hashlib
import os
import signal
import time

from gensight.models import Reply

VERSION = 1
READS_TRUTH = False
ANSWERS = ["image"]
DEFAULTS = {"name": None, "failure": None, "after": 2}
REQUIRED = ["name"]
CHOICES = {"failure": [None, "wait", "memory", "kill", "environment"]}
#: Longer than any test.
FOR_EVER_S = 3600


try:
    from torch import OutOfMemoryError
except ImportError:

    class OutOfMemoryError(RuntimeError):
        """Called like torch's, where that is not installed."""


class Rehearsed:
    fit_digest = ""

    def __init__(self, generation, folder):
        self.failure, self.after = generation.get("failure"), generation.get("after", 2)
        self.folder = folder / "rehearsals" / generation["name"]
        self.folder.mkdir(parents=True, exist_ok=True)
        self.is_first = not (self.folder / "tried").exists()
        (self.folder / "tried").touch()
        self.answered = 0

    def answer(self, turn):
        if self.is_first and self.answered >= self.after:
            self.fail()
        digest = hashlib.sha256(repr(turn.parts).encode()).hexdigest()
        with (self.folder / "answered").open("a") as stream:
            stream.write(f"{digest} {os.environ.get('SLURM_JOB_ID')}\n")
        self.answered += 1
        return Reply("ok", images=(turn.parts[-1].image or turn.parts[0].image,))

    def fail(self):
        (self.folder / "failing").write_text(os.environ.get("SLURM_JOB_ID", ""))
        if self.failure == "wait":
            time.sleep(FOR_EVER_S)
        elif self.failure == "memory":
            raise OutOfMemoryError("pretend GPU: tried to allocate 20.00 GiB")
        elif self.failure == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.failure == "environment":
            (self.folder / "environment").write_text("\n".join(sorted(os.environ)))


def open_model(generation, held_out, site):
    return Rehearsed(generation, site.root)
