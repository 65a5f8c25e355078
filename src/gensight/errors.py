"""The errors a user can meet; each message names the file, the key and what to do.

GensightError
├── SpecError           a YAML file of the project is wrong
├── RecordError         a Parquet file has the wrong schema, row count or digest
├── ImageError          the bytes are not a picture that can be read
├── MissingDataError    a data set is not where the config says it is, or is not as shipped
│   └── AbsentDataError its files are not there, or only some of them are
├── NotHereYetError     a declared protocol has no adapter in this version
├── BudgetError         a hosted model is to be asked and there is no money for it
├── ParkedError         a provider takes no requests for now
├── ModelGoneError      a provider does not know the model any more
├── UnresolvedError     questions stayed without an answer
├── AnswerError         a model that runs here cannot answer one turn
├── ModelMemoryError    a model that runs here needs more memory than there is
└── InterruptedAskingError  somebody ended the job while a model was being asked
"""

from __future__ import annotations


class GensightError(Exception):
    """Anything that is the user's to fix: printed as one line, never as a traceback."""


class SpecError(GensightError):
    """A YAML file is wrong; the message names the file, the key and the allowed values."""


class RecordError(GensightError):
    """A file cannot be used; the message names it and the command that rebuilds it."""


class ImageError(GensightError):
    """The bytes are not a readable picture (empty, truncated, another format, too large)."""


class MissingDataError(GensightError):
    """A data set is not present; the message says what to get and where to put it."""


class AbsentDataError(MissingDataError):
    """Files of a data set are still to be got; how is added where the data set is listed."""


class NotHereYetError(GensightError):
    """A protocol is declared but this version has no adapter for it."""


class BudgetError(GensightError):
    """Money is needed and there is none: no budget, or it is spent."""


class ParkedError(GensightError):
    """A provider takes no requests for now: the same command goes on later."""

    #: What `sysexits.h` calls EX_TEMPFAIL: try again later.
    exit_code = 75


class ModelGoneError(GensightError):
    """A provider does not know the model any more."""


class UnresolvedError(GensightError):
    """Questions stayed without an answer, and the run does not keep such gaps."""


class AnswerError(GensightError):
    """A model that runs here cannot answer one turn; the message says what it made instead."""


class ModelMemoryError(GensightError):
    """A model that runs here needs more memory than there is: the job is to be tried with more."""


class InterruptedAskingError(GensightError):
    """Somebody ended the job: nothing more is sent, what was sent has been waited for."""

    exit_code = 130
