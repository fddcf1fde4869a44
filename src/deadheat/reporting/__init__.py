"""Seeing it: tables for people, JSON for programs, files, figures and reports."""

from deadheat.reporting.codes_table import codes_json, codes_markdown, print_codes
from deadheat.reporting.columns import Column, rich_table
from deadheat.reporting.figures import draw_comparison, draw_frontier, draw_timeline, new_figure
from deadheat.reporting.live_table import watched
from deadheat.reporting.number_format import seconds, to_json
from deadheat.reporting.paper_report import Section, paper_json, print_claims, save_pictures, write_paper_report
from deadheat.reporting.plan_table import plan_json, print_plan
from deadheat.reporting.progress_bar import candidate_bar, replication_bar
from deadheat.reporting.ranking_table import print_ranking, ranking_columns, ranking_json
from deadheat.reporting.run_report import WORKERS, measured_json, print_run, run_json, write_run_report
from deadheat.reporting.terminal import console, printable

from deadheat.reporting.simulation_tables import (  # isort: skip
    comparison_columns, comparison_json, print_comparison, print_replications, replications_json,
)  # fmt: skip
from deadheat.reporting.write_files import (  # isort: skip
    FIGURES, check_target, write_arrays, write_figure, write_table, write_text, write_trace,
)  # fmt: skip
