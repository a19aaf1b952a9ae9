"""Pages from the code of metrics and from the schema of configurations."""

import argparse
import ast
import os
from collections.abc import Iterator, Mapping
from typing import Any
from unittest.mock import patch

import yaml

from catalog.markdown import code, escape, link_file, page, table
from despur.__main__ import build_parser
from despur.orchestration.configuration import SCHEMA
from despur.specs.declarations import list_files

WIDTH = 80  # of a help text
TYPES = {"string": "text", "array": "list", "object": "mapping", "integer": "whole number", "boolean": "true or false"}


def build_metrics_page() -> str:
    """The functions of despur.metrics, by file."""
    parts = []
    for file in list_files("metrics").values():
        tree = ast.parse(file.read_text())
        rows = [
            [code(node.name), escape((ast.get_docstring(node) or "").partition("\n\n")[0])]
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) and not node.name.startswith("_")
        ]
        parts.append(f"## {file.stem}\n\n{escape(ast.get_docstring(tree) or '')}\n\n{link_file(file)}")
        parts += [table(["function", "what it gives"], rows)] if rows else []
    introduction = (
        "After this page you know the functions behind each metric. [Metrics](metrics.md) lists the metrics themselves."
    )
    return page("Functions of metrics", introduction, *parts, "[All pages](index.md)")


def build_commands_page() -> str:
    """The help of every command of ``despur``, from its parser."""
    introduction = (
        "After this page you know every command of `despur` and its options.\n\n"
        "`despur COMMAND --help` prints the same. [Commands](commands.md) shows them in use."
    )
    parts = [f"## despur {name}\n\n```text\n{text.rstrip()}\n```" for name, text in format_helps().items()]
    return page("Options of despur", introduction, *parts, "[All pages](index.md)")


def format_helps() -> dict[str, str]:
    """The help of each command, by name, in lines of WIDTH characters on every terminal."""
    actions = (action.choices for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    with patch.dict(os.environ, COLUMNS=str(WIDTH)):  # argparse reads it
        return {name: command.format_help() for name, command in next(actions).items()}


def build_configuration_page() -> str:
    """Every key of a configuration, from the schema."""
    schema = yaml.safe_load(SCHEMA.read_text())
    rows = [
        [code(name), escape(describe_type(schema, schema_of_key)), code(schema_of_key.get("default", "")), escape(text)]
        for name, schema_of_key, text in walk_keys(schema["properties"])
    ]
    introduction = (
        "After this page you know every key of a configuration.\n\n"
        "[Configurations](configurations.md) shows them in use. "
        f"From {link_file(SCHEMA)}, against which every configuration is checked. "
        f"Keys that are required: {', '.join(code(key) for key in schema['required'])}."
    )
    shown = table(["key", "value", "default", "what it says"], rows)
    return page("Keys of a configuration", introduction, shown, "[All pages](index.md)")


def walk_keys(properties: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """(dotted key, what the schema states, description) of all keys, also of those inside others."""
    for name, schema_of_key in properties.items():
        yield prefix + name, schema_of_key, schema_of_key.get("description", "")
        below, path = schema_of_key, prefix + name
        while isinstance(below.get("additionalProperties"), Mapping):
            below, path = below["additionalProperties"], f"{path}.NAME"
        if "properties" in below:
            yield from walk_keys(below["properties"], f"{path}.")


def describe_type(schema: Mapping[str, Any], schema_of_key: Mapping[str, Any]) -> str:
    """``integer or array``."""
    if "$ref" in schema_of_key:
        schema_of_key = schema["$defs"][schema_of_key["$ref"].rpartition("/")[2]]
    kinds = schema_of_key["type"] if isinstance(schema_of_key["type"], list) else [schema_of_key["type"]]
    return " or ".join(TYPES[kind] for kind in kinds)
