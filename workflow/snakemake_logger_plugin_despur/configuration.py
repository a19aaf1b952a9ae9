"""Snakemake's errors about a configuration that is not there, is no YAML or holds itself, which name neither file nor
line."""

from collections.abc import Sequence
from pathlib import Path

from despur.orchestration.configuration_files import refuse_oversized, within
from despur.specs.settings import SettingError
from despur.specs.yaml_files import load_file

SIGNS = "Config file", "load_configfile", "update_config"  # of Snakemake's message, of its tracebacks
FUTURE = """The clock was set back, or another machine's clock is ahead. Set the times of such files to now, and repeat:
  find results -newermt now -exec touch {} +"""


def explain_error(text: str, words: Sequence[str]) -> str:
    """What is wrong with a configuration that the ``words`` of the command line name, if the error is about one; what
    to do about files from the future; else the error's text."""
    if "has older modification time" in text:
        return f"{text}\n{FUTURE}"
    if any(sign in text for sign in SIGNS):
        from snakemake.cli import get_argument_parser

        named = get_argument_parser().parse_known_args(words[1:])[0].configfile
        for file in [*named, Path("config.yaml")]:
            try:
                content = load_file(file)
                with within(str(file)):
                    refuse_oversized(content)
            except SettingError as error:
                return f"Error: {error}"
    return text
