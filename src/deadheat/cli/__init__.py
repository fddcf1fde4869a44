"""The command line: one file per command. Bad input is one line on standard error and exit code 2."""

from __future__ import annotations

import sys

import typer

from deadheat.cli.commands.codes import codes
from deadheat.cli.commands.compare import compare
from deadheat.cli.commands.demo import demo
from deadheat.cli.commands.plan import plan
from deadheat.cli.commands.probe import probe
from deadheat.cli.commands.reproduce import reproduce
from deadheat.cli.commands.run import run
from deadheat.cli.commands.simulate import simulate
from deadheat.cli.commands.tune import tune
from deadheat.cli.commands.version import version
from deadheat.errors import BadInput, DeadheatError

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Split, code, purge and forecast iterative jobs over unequal workers, so that all finish together.",
)
app.callback(invoke_without_command=True)(version)
app.command()(demo)
app.command()(plan)
app.command()(simulate)
app.command()(compare)
app.command()(tune)
app.command()(codes)
app.command()(run)
app.command()(probe)
app.command()(reproduce)


def main(arguments: list[str] | None = None) -> None:
    """Run a command and leave with its exit code: 0 done, 2 bad input, 1 anything else."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        code = app(given or ["--help"], standalone_mode=False, prog_name="deadheat")
    except (typer.TyperException, BadInput) as error:
        text = error.format_message() if isinstance(error, typer.TyperException) else str(error)
        _complain(" ".join(text.split()))
        code = 2
    except DeadheatError as error:
        _complain(str(error))
        code = 1
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted")
        code = 1
    except BrokenPipeError:  # the reader of our output has left: `deadheat plan x | head`
        sys.stderr.close()
        code = 1
    except OSError as error:  # a full disk, say
        _complain(f"cannot go on: {error.strerror or error}")
        code = 1
    sys.exit(code if isinstance(code, int) else 0)


def _complain(text: str) -> None:
    print(f"deadheat: {text}", file=sys.stderr)
