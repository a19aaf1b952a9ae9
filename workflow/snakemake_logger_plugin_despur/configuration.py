"""Snakemake's errors about a configuration that is not there, is no YAML or holds itself, which name neither file nor
line."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from despur.orchestration.configuration_files import refuse_oversized, within
from despur.specs.settings import SettingError
from despur.specs.yaml_files import load_file

SIGNS = "Config file", "load_configfile", "update_config"  # of Snakemake's message, of its tracebacks
OPTIONS = "--configfile", "--configfiles"
FUTURE = """The clock was set back, or another machine's clock is ahead. Set the times of such files to now, and repeat:
  find results -newermt now -exec touch {} +"""


def explain_error(text: str, words: Sequence[str]) -> str:
    """What is wrong with a configuration that the ``words`` of the command line name, if the error is about one; what
    to do about files from the future; else the error's text."""
    if "has older modification time" in text:
        return f"{text}\n{FUTURE}"
    if any(sign in text for sign in SIGNS):
        for file in [*list_files(words), "config.yaml"]:
            try:
                content = load_file(Path(file))
                with within(file):
                    refuse_oversized(content)
            except SettingError as error:
                return f"Error: {error}"
    return text


def list_files(words: Sequence[str]) -> Iterator[str]:
    """The files after the options that name configurations."""
    for at, word in enumerate(words):
        option, equals, file = word.partition("=")
        if option in OPTIONS:
            yield from [file] if equals else takewhile(lambda word: not word.startswith("-"), words[at + 1 :])
