"""The public names of the package, from the stubs that list them: a page for each package, with examples."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from catalog.markdown import code, contents, escape, link_file, page, table
from despur.specs.declarations import PACKAGE
from despur.specs.public import read_stub

TITLES = {
    "despur": PACKAGE,
    **{f"despur.{name}": PACKAGE / name for name in ("losses", "metrics", "samplers", "inference")},
}
EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
ARGUMENT = re.compile(r", (?=\w+:|\*)")  # before each argument but the first: all have types
LINE = 76  # letters of arguments
INTRODUCTION = (
    "After this page you know the names that may be imported. Others are private and may change. "
    "[As a library](../library.md) shows them in use. `rng` is a generator of numpy: what is drawn depends on nothing "
    "else. `Tensor` is that of torch, `Array` that of numpy; capital letters in brackets are the shape."
)


def build_pages() -> dict[str, str]:
    """The pages, by name: one for each package, and ``index``."""
    pages = {name: build_page(name, folder) for name, folder in TITLES.items()}
    rows = [
        [f"[{name}]({name}.md)", ", ".join(code(public) for public in sorted(list_names(folder)))]
        for name, folder in TITLES.items()
    ]
    shown = table(["package", "names"], rows)
    return {"index": page("Interface", INTRODUCTION, shown, contents(pages), "[All pages](../index.md)"), **pages}


def list_names(folder: Path) -> dict[str, tuple[str, str]]:
    """(module, name in it) of each public name of a package."""
    return read_stub(str(folder / "__init__.py"))


def build_page(package: str, folder: Path) -> str:
    """The public names of a package, in the order of their names."""
    parts = [describe_name(package, name, *where) for name, where in sorted(list_names(folder).items())]
    return page(package, *parts, "[All packages](index.md)")


def describe_name(package: str, name: str, module: str, name_in_module: str) -> str:
    """How a name is imported and called, its docstring and its example; its file, which names the source."""
    file = PACKAGE / f"{module.removeprefix('despur.').replace('.', '/')}.py"
    tree = ast.parse(file.read_text())
    node = next(node for node in tree.body if getattr(node, "name", "") == name_in_module)
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    text = ast.get_docstring(node) or ""
    words, example = EXAMPLE.sub("", text).strip(), EXAMPLE.search(text)
    shown = f"~~~~python\nfrom {package} import {name}\n\n{name}{write_signature(node)}\n~~~~"
    source, _, _ = (ast.get_docstring(tree) or "").partition("\n\n")
    told = f"{link_file(file)}: {escape(source)}"
    examples = [f"~~~~pycon\n{example[0]}\n~~~~"] if example else []
    return "\n\n".join([f"## {name}", shown, escape(words), *examples, *describe_methods(node), told])


def write_signature(node: ast.FunctionDef | ast.ClassDef) -> str:
    """The arguments of a function or class with their types, and what a function returns."""
    if isinstance(node, ast.FunctionDef):
        assert node.returns
        return f"({break_line(ast.unparse(node.args))}) -> {ast.unparse(node.returns)}"
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and member.name == "__init__":
            return f"({break_line(ast.unparse(member.args).removeprefix('self, '))})"
    fields = (ast.unparse(member) for member in node.body if isinstance(member, ast.AnnAssign))
    return f"({break_line(', '.join(fields))})"


def break_line(arguments: str) -> str:
    """Arguments on one line, or on a line each where they are too long for one."""
    if len(arguments) <= LINE:
        return arguments
    return "".join(f"\n    {argument}," for argument in ARGUMENT.split(arguments)) + "\n"


def describe_methods(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    """The public methods of a class, each with its docstring; nothing of a function."""
    for member in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
            arguments = "" if member.decorator_list else f"({', '.join(given.arg for given in member.args.args[1:])})"
            yield f"{code(f'.{member.name}{arguments}')}: {escape(ast.get_docstring(member) or '')}"
