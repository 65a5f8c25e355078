"""A Snakemake logger that prints one line per finished cell: `snakemake --logger gensight`.

Snakemake finds the plugin by the name of this package. The lines go to standard error beside
Snakemake's own (add `--quiet all` to see them alone), with no carriage returns.
"""

from snakemake_logger_plugin_gensight.cells import LogHandler

__all__ = ["LogHandler"]
