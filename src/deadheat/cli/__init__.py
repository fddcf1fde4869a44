"""The command line: one file per command. Bad input is one line on standard error and exit code 2.

Ctrl-C is exit code 130 and SIGTERM 143, with one line each.
"""

import sys
from contextlib import suppress
from typing import Annotated

import typer

from deadheat import __version__
from deadheat.cli.commands.codes import codes
from deadheat.cli.commands.compare import compare
from deadheat.cli.commands.demo import demo
from deadheat.cli.commands.plan import plan
from deadheat.cli.commands.probe import probe
from deadheat.cli.commands.replay import replay
from deadheat.cli.commands.reproduce import reproduce
from deadheat.cli.commands.run import run
from deadheat.cli.commands.simulate import simulate
from deadheat.cli.commands.tune import tune
from deadheat.cli.signals import Signalled, signals_raised
from deadheat.errors import BadInput, DeadheatError
from deadheat.model import answer_in_seconds
from deadheat.reporting import printable

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
for command in (demo, plan, simulate, compare, tune, codes, run, replay, probe, reproduce):
    app.command()(command)

OPTIONS = {"kind": "engine", "ratio": "split", "job.python": "job"}  # by setting, where they have other names


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)] = False,
) -> None:
    """Split, code, purge and forecast iterative jobs over unequal workers, so that all finish together."""
    if show:
        print(__version__)
        raise typer.Exit
    answer_in_seconds()


def main(arguments: list[str] | None = None) -> None:
    """Run a command and leave with its exit code: 0 done, 2 bad input, 130 or 143 by a signal, 1 anything else."""
    typed = sys.argv[1:] if arguments is None else arguments
    try:
        with signals_raised():
            code = app(typed or ["--help"], standalone_mode=False, prog_name="deadheat")
    except Signalled as signalled:
        code = _complain(str(signalled), signalled.exit_code)
    except typer.TyperException as error:
        code = _complain(error.format_message(), 2)
    except BadInput as error:
        code = _complain(str(_as_typed(error, typed)), 2)
    except DeadheatError as error:
        code = _complain(str(error), 1)
    except (KeyboardInterrupt, typer.Abort):
        code = _complain("interrupted", 130)
    except MemoryError:
        code = _complain("not enough memory: take fewer workers, tasks or jobs", 1)
    except BrokenPipeError:  # the reader of our output has left: `deadheat plan x | head`
        sys.stderr.close()
        code = 1
    except OSError as error:  # a full disk, say
        code = _complain(f"cannot go on: {error.strerror or error}", 1)
    sys.exit(code if isinstance(code, int) else 0)


def _as_typed(error: BadInput, typed: list[str]) -> BadInput:
    """An error about a setting that was typed as an option names the option, also one of a list of settings."""
    setting = OPTIONS.get(error.field, error.field.removeprefix("search."))
    names = {f"--{setting}", f"--{setting}s", f"--{setting.removesuffix('y')}ies"}
    for place, argument in enumerate(typed):
        option, equals, text = argument.partition("=")
        text = text if equals else " ".join(typed[place + 1 : place + 2])
        written = error.field == "file" and option.startswith("--") and text == error.value
        if option in names or written:
            value = error.value if isinstance(error.value, bool | int | float | str) else text
            return BadInput(option, value, error.problem, error.remedy)
    return error


def _complain(text: str, code: int) -> int:
    """Say it in one line where the input was bad; an error of a job may have several."""
    shown = printable(" ".join(text.split()) if code == 2 else text)
    with suppress(OSError):  # nobody may be there to read it
        print(f"deadheat: {shown}", file=sys.stderr)
    return code
