"""All pages of the site, with their links: a link to a page stays one, a figure is copied, and any other file of the
repository becomes a page that shows it."""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from catalog import api, claims, components, datasets, elsewhere, fingerprint, gallery, reference, suites, times
from catalog.markdown import ROOT, code, contents, escape, page, table
from despur.orchestration.experiments import load_experiments
from despur.orchestration.paper_folders import find_paper, list_papers

LINK = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(?:```|~~~~).*?^(?:```|~~~~)$", re.MULTILINE | re.DOTALL)
LANGUAGES = {".py": "python", ".yaml": "yaml", ".toml": "toml", ".sh": "bash"}
IMAGES = ".png", ".svg"
CATALOGS = """Catalogs

Made from the code when the site is built.

| you want to know | page |
| --- | --- |
| every method, its settings, losses and sources | [Methods](methods/index.md) |
| what methods are called in SubpopBench, DomainBed, WILDS and others | [Methods elsewhere](methods_elsewhere.md) |
| every data set, its files, license and sizes | [Data sets](datasets/index.md) |
| every public name of the package, with examples | [Interface](api/index.md) |
| every encoder | [Encoders](encoders/index.md) |
| every inference of an attribute | [Inferences](inference/index.md) |
| the functions behind metrics | [Functions of metrics](metric_functions.md) |
| every claim of the papers | [Claims](claims/index.md) |
| every command of `despur` with its options | [Options of despur](command_options.md) |
| every key of a configuration | [Keys of a configuration](configuration_keys.md) |
| what each paper folder decides where its paper is silent | [Papers](papers/index.md) |
| tables and figures of full runs | [Gallery](gallery/index.md) |
| how long the stages of the bundled run take | [Where the time goes](times.md) |
| how many tests there are, and how their last run ended | [Tests](suites.md) |
| where printed grids of domain_temperature fall to chance, and what was tried | [Fingerprint](fingerprint.md) |
"""


def collect_written() -> dict[str, Path]:
    """The hand-written pages: names in the site, and files."""
    docs = {file.name: file for file in sorted((ROOT / "docs").glob("*.md"))}
    papers = {f"papers/{paper}.md": find_paper(paper) / "README.md" for paper in list_papers()}
    return {**docs, "contributing.md": ROOT / "CONTRIBUTING.md", **papers}


def collect_generated() -> dict[str, str]:
    """The generated pages: names in the site, and texts."""
    folders: dict[str, Mapping[str, str]] = {
        **{kind: components.build_pages(kind) for kind in components.TITLES},
        "api": api.build_pages(),
        "datasets": datasets.build_pages(),
        "claims": claims.build_pages(),
        "gallery": gallery.build_pages(),
        "papers": {"index": build_papers_page()},
    }
    below = {f"{folder}/{name}.md": text for folder, pages in folders.items() for name, text in pages.items()}
    return {
        **below,
        "metric_functions.md": reference.build_metrics_page(),
        "command_options.md": reference.build_commands_page(),
        "configuration_keys.md": reference.build_configuration_page(),
        "times.md": times.build_times(),
        "suites.md": suites.build_suites(),
        "fingerprint.md": fingerprint.build_fingerprint(),
        "methods_elsewhere.md": elsewhere.build_elsewhere(),
    }


def build_papers_page() -> str:
    """The five papers."""
    rows = [[f"[{paper}]({paper}.md)", escape(load_experiments(paper)["title"])] for paper in list_papers()]
    introduction = "After this page you know which papers are re-run, and where their choices are explained."
    shown = table(["paper folder", "paper"], rows)
    return page("Papers", introduction, shown, contents(list_papers()), "[All pages](../index.md)")


class Site:
    """The pages, and what else of the repository they show."""

    def __init__(self) -> None:
        written = collect_written()
        self.copied = {file.name: file for file in (ROOT / "docs").glob("*.ipynb")}  # as they are
        self.page_of = {file: name for name, file in written.items()}  # of files of the repository
        self.page_of[ROOT / "results/reference"] = "gallery/index.md"
        self.page_of[ROOT / "README.md"] = "index.md"
        self.page_of |= {file: name for name, file in self.copied.items()}
        self.texts: dict[str, str] = {}
        for name, file in written.items():
            text = file.read_text()
            back = "" if name == "index.md" or "(index.md)" in text else "\n[All pages](/README.md)\n"
            self.texts[name] = self.rewrite(name, text + back, file.parent)
        for name, text in collect_generated().items():
            self.texts[name] = self.rewrite(name, text, None)
        self.texts |= split_index(self.texts["index.md"])

    def rewrite(self, name: str, text: str, folder: Path | None) -> str:
        """A page with links that lead somewhere in the site. ``folder``: of its file; None for a generated page, whose
        links are those of the site or, after a slash, of the repository."""

        def change(match: re.Match[str]) -> str:
            mark, label, target = match.groups()
            file, anchor = target.partition("#")[::2]
            if target.startswith("http") or not file or (folder is None and not file.startswith("/")):
                return match[0]
            path = ROOT / file[1:] if file.startswith("/") else Path(os.path.normpath((folder or ROOT) / file))
            link = os.path.relpath(self.find_page(path), Path(name).parent) + (f"#{anchor}" if anchor else "")
            return f"{mark}[{label}]({link})"

        pieces = zip([*FENCE.split(text)], [*FENCE.findall(text), ""], strict=True)
        return "".join(LINK.sub(change, words) + fence for words, fence in pieces)

    def find_page(self, path: Path) -> str:
        """Where the site shows a file or folder of the repository."""
        if path in self.page_of:
            return self.page_of[path]
        if not path.exists():
            raise FileNotFoundError(f"a page links to {path}, which is not there")
        local = Path(os.path.relpath(path, ROOT).replace("../", ""))
        if path.suffix in IMAGES:
            self.copied[name := f"figures/{local}"] = path
        else:
            self.page_of[path] = name = f"source/{local}.md"  # first: it may link to itself
            self.texts[name] = self.show(name, path)
        self.page_of[path] = name
        return name

    def show(self, name: str, path: Path) -> str:
        """A page that shows a file or folder, outside of all menus."""
        hidden = "---\norphan: true\n---\n\n"
        if path.suffix == ".md":
            return hidden + self.rewrite(name, path.read_text() + "\n[All pages](/README.md)\n", path.parent)
        return hidden + self.rewrite(name, show_folder(path) if path.is_dir() else show_file(path), None)

    def write(self, target: Path) -> None:
        """All files of the site's source, in a folder that is made anew."""
        shutil.rmtree(target, ignore_errors=True)
        for name, text in self.texts.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_text(text)
        for name, path in self.copied.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target / name)


def show_file(path: Path) -> str:
    """A page with the text of a file."""
    shown = f"~~~~{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text().rstrip()}\n~~~~"
    return page(code(os.path.relpath(path, ROOT)), shown, "[All pages](/README.md)")


def show_folder(path: Path) -> str:
    """A page with the files of a folder."""
    folder = os.path.relpath(path, ROOT)
    files = [file for file in sorted(path.iterdir()) if file.suffix in (".py", ".md", ".yaml")]
    rows = [[f"[{code(file.name)}](/{folder}/{file.name})"] for file in files]
    return page(code(f"{folder}/"), table(["file"], rows), "[All pages](/README.md)")


def split_index(text: str) -> dict[str, str]:
    """The index, and a page for each of its sections: the menus of the site."""
    start, *parts = [*text.split("\n## "), CATALOGS]
    sections = {f"{part.partition(chr(10))[0].lower().replace(' ', '_')}.md": part for part in parts}
    pages = {name: build_section(part) for name, part in sections.items()}
    whole = "\n## ".join([start.rstrip(), *(part.rstrip() + "\n" for part in parts)])
    return {**pages, "index.md": f"{whole}\n{contents(sections)}\n"}


def build_section(part: str) -> str:
    """A page of a section of the index, with a menu of the pages that it links to."""
    title, _, body = part.partition("\n")
    names = dict.fromkeys(target for _, _, target in LINK.findall(body) if not target.startswith("http"))
    return page(title, body.strip(), contents(names), "[All pages](index.md)")
