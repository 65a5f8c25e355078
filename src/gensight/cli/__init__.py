"""The `gensight` command: single pictures read and scored by the rules of the pipeline.

Each sub-command is a module of this folder that holds a click object named `command`; it is
imported when it is called, so that starting up costs nothing. What is the user's to fix ends with
one line on stderr and exit code 2.
"""

from __future__ import annotations

import importlib

import click

from gensight import __version__
from gensight.errors import GensightError

COMMANDS = {
    "data": "Say which data sets are here and complete; freeze an order; make a synthetic twin.",
    "plan": "Say what a run still has to ask, what it costs at most, and how long it takes.",
    "extract": "Read a mask, a depth map, a count, boxes, a number, ... from one answer.",
    "pixelate": "Draw a picture in few cells and eight colours, by one of ten methods.",
    "score": "Score generated pictures against their truth.",
    "compare": "Say how two models, prompts or runs differ, sample by sample.",
    "spend": "Ask in waves until two models are told apart, then build the run.",
    "suspects": "List the labels that strong models contradict together, for review.",
    "failures": "Classify one answer; write and read the sheets of human raters.",
    "audit": "Recompute every derived number that the papers print.",
    "export": "Write the pictures of a result file to a folder.",
    "ledger": "List, explain, move, check and prune the replies that were bought.",
    "slurm": "Clean up after a run on a cluster that was killed.",
    "archive": "Pack, restore, adopt or verify the results of a checkout.",
    "doctor": "Say what is installed, what can run, and what is missing.",
}
USER_ERROR = 2


class Program(click.Group):
    """The sub-commands by name, and the one place where an error becomes one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the sub-commands, in the order of a piece of work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a sub-command; None where there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        return importlib.import_module(f"{__name__}.{cmd_name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of sub-commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> object:
        """Run a sub-command; a GensightError is one line on stderr and exit code 2."""
        try:
            return super().invoke(ctx)
        except GensightError as error:
            click.echo(f"gensight: {' '.join(str(error).split())}", err=True)
            return ctx.exit(USER_ERROR)


@click.group("gensight", cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gensight", message="%(prog)s %(version)s")
def main() -> None:
    """Measure what image generators and multimodal models can see, reason about and draw."""
