"""YAML files: configurations, and what papers, schema and resources state. Of what readers of YAML understand in more
than one way nothing is taken: a key that stands twice, and texts such as 1:30 or yes, which are a number and a truth
value in YAML 1.1 (Snakemake reads this) and texts in YAML 1.2."""

import errno
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from despur.specs.names import shorten, show_text
from despur.specs.settings import SettingError

# What YAML 1.2 (core schema, 10.3.2) takes a plain text for, with two additions that all of ours may use: << merges
# mappings, and _ separates digits. A number that begins with 0 is octal in YAML 1.1 alone.
CORE = {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "octal": r"[-+]?0[0-9_]+",
    "int": r"[-+]?[0-9][0-9_]*|0o[0-7]+|0x[0-9a-fA-F]+",
    "float": r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
    "merge": r"<<",
}


def load_file(file: Path) -> dict[str, Any]:
    """What a YAML file says. Raises SettingError, naming the file, where it cannot be read, holds no mapping, or can be
    understood in more than one way."""
    name = show_text(str(file))
    try:
        if file.exists() and not file.is_file():
            raise OSError(errno.EINVAL, "it is no file")
        loaded = _load(file.read_text())
    except RecursionError:
        raise SettingError(f"{name} cannot be read: too many brackets in brackets") from None
    except OSError as error:
        raise SettingError(f"{name} cannot be read: {error.strerror}") from None
    except SettingError as error:
        raise SettingError(f"{name}: {error}") from None
    except (ValueError, yaml.YAMLError) as error:  # ValueError: no text, a number or date that cannot be
        place = _locate(error, file).replace("<unicode string>", name).replace("<byte string>", name)
        shown = "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in place)
        raise SettingError(f"{name} cannot be read: {shown}") from None
    if not isinstance(loaded, dict):
        raise SettingError(f"{name}: must be keys with values, as in config.yaml")
    return loaded


def _load(text: str) -> Any:
    loader, root = _parse(text)
    return loader.construct_document(root) or {} if root else {}


@lru_cache
def _parse(text: str) -> tuple[yaml.SafeLoader, yaml.Node | None]:
    """A text's nodes, from which values can be made more than once: to parse takes nine tenths of the time."""
    loader = yaml.SafeLoader(text)  # of libyaml, many brackets in brackets end the process
    root = loader.get_single_node()
    for node in _list_nodes(root):
        if isinstance(node, yaml.MappingNode):
            _refuse_repeated_keys(node)
        elif isinstance(node, yaml.ScalarNode):
            _refuse_ambiguous(node, loader.resolve(yaml.ScalarNode, node.value, (True, False)))
    return loader, root


def _list_nodes(root: yaml.Node | None) -> Iterator[yaml.Node]:
    """Every node of a document once, however many aliases (*name) stand for it."""
    queue, seen = [root] if root else [], set()
    while queue:
        node = queue.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            parts = [] if isinstance(node, yaml.ScalarNode) else node.value
            queue += [node for part in parts for node in (part if isinstance(part, tuple) else (part,))]


def _refuse_repeated_keys(node: yaml.MappingNode) -> None:
    lines: dict[tuple[str, str], int] = {}
    for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
        line, same = key.start_mark.line + 1, (key.tag, key.value)
        if same in lines:
            where = f"in line {lines[same]} and again in line {line}"
            raise SettingError(f"the key {shorten(repr(key.value))} stands {where}: keep one of them")
        lines[same] = line


def _refuse_ambiguous(node: yaml.ScalarNode, tag: str) -> None:
    """Refuse a plain text that YAML 1.1, which gives it a ``tag``, and YAML 1.2 understand in different ways."""
    core = next((kind for kind, pattern in CORE.items() if re.fullmatch(pattern, node.value)), "str")
    if node.style is None and node.tag == tag != f"tag:yaml.org,2002:{core}":
        raise SettingError(
            f"{shorten(repr(node.value))} in line {node.start_mark.line + 1} means one thing in YAML 1.1 and another "
            "in YAML 1.2: put it in quotes if it is text, else write 90, 0.001 or true"
        )


def _locate(error: ValueError | yaml.YAMLError, file: Path) -> str:
    """What is wrong with a YAML file, with its line; of a letter that YAML does not allow, PyYAML says the position."""
    if isinstance(error, UnicodeDecodeError):
        before, wrong = (
            error.object[: error.start].decode(),
            f"byte {error.object[error.start]:#04x} is no text in UTF-8",
        )
    elif isinstance(error, yaml.reader.ReaderError):
        before, wrong = file.read_text()[: error.position], f"YAML does not allow the letter {error.character:#06x}"
    else:
        return str(error)
    lines = before.split("\n")
    return f'{wrong}\n  in "<unicode string>", line {len(lines)}, column {len(lines[-1]) + 1}'
