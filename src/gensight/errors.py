"""The errors a user can meet; each message names the file, the key and what to do.

GensightError
├── SpecError           a YAML file of the project is wrong
├── RecordError         a Parquet file has the wrong schema, row count or digest
├── ImageError          the bytes are not a picture that can be read
├── MissingDataError    a data set is not where the config says it is, or is not as shipped
│   └── AbsentDataError its files are not there, or only some of them are
└── NotHereYetError     a declared protocol has no adapter in this version
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
