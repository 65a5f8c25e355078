"""A Snakemake logger that prints one line per finished cell: `snakemake --logger gensight`.

Snakemake finds the plugin by the name of this package. It stands in for Snakemake's own output on
standard error (which the log in .snakemake/log still has), and never prints a carriage return.
"""

from snakemake_logger_plugin_gensight.cells import LogHandler

__all__ = ["LogHandler"]
