"""The documentation site: it builds without a warning, its links lead somewhere, all is in it."""

import re
import subprocess
import sys
from dataclasses import is_dataclass
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

pytest.importorskip("sphinx", reason="needs Sphinx: pip install 'hyperlvq[docs]'")
numpydoc_validate = pytest.importorskip("numpydoc.validate")

DOCS = Path(__file__).parents[2] / "docs"
PUBLIC_MODULES = ("hyperlvq", "hyperlvq.export", "hyperlvq.distributed")
#: Undocumented and unknown parameters, and a missing example.
COMPLAINTS = {"PR01", "PR02", "EX01"}
#: What is loaded with a page.
LOADED = {"img": "src", "link": "href", "script": "src"}


def documented_names():
    """Return the names of all tables of the reference."""
    module, names = "", []
    for line in (DOCS / "reference" / "index.rst").read_text().splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   [A-Za-z]\w+", line) and line.strip() != "command_line":
            names.append(f"{module}.{line.strip()}")
    return names


class Page(HTMLParser):
    """The anchors of a page, its links, and the addresses of what is loaded with it."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.links.add(found["href"])
        if tag in LOADED and found.get(LOADED[tag]):
            self.loaded.add(found[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site, built without running the examples."""
    folder = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--define", "plot_gallery=0"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(DOCS), str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """Return all pages by their paths."""
    return {path: Page(path) for path in site.rglob("*.html") if "_static" not in path.parts}


def is_outside(address):
    return re.match(r"[a-z]+:|//", address) is not None


def broken(path, link, pages):
    """Return whether a link of a page leads to no file, or to no anchor of a page."""
    file, anchor = urldefrag(unquote(link))
    target = (path.parent / file).resolve() if file else path
    if target not in pages:
        return not target.is_file()
    return bool(anchor) and anchor not in pages[target].anchors


def test_links_within_the_site_lead_somewhere(pages):
    links = [
        (path, link) for path, page in pages.items() for link in page.links if not is_outside(link)
    ]

    assert len(links) > 1000
    assert not [(path.name, link) for path, link in links if broken(path, link, pages)]


def test_pages_load_nothing_from_the_network(pages):
    addresses = {address for page in pages.values() for address in page.loaded}

    assert not {each for each in addresses if is_outside(each) and not each.startswith("data:")}


def test_public_names_stand_in_the_reference():
    public = {f"{name}.{each}" for name in PUBLIC_MODULES for each in import_module(name).__all__}

    assert public - set(documented_names()) == set()


@pytest.mark.parametrize("name", documented_names())
def test_names_of_the_reference_have_a_page_an_example_and_all_parameters(name, site):
    module, _, attribute = name.rpartition(".")
    documented = getattr(import_module(module), attribute)
    is_record = is_dataclass(documented) or hasattr(documented, "_fields")
    found = numpydoc_validate.validate(name)

    codes = {code for code, _ in found["errors"]} & COMPLAINTS
    assert found["docstring"]
    assert codes <= ({"PR01"} if is_record else set())  # whose fields are attributes
    assert (site / "reference" / "generated" / f"{name}.html").is_file()


def test_every_command_and_option_stands_in_the_reference(site):
    typer = pytest.importorskip("typer")
    from hyperlvq.cli.app import app

    page = (site / "reference" / "command_line.html").read_text()
    groups = [("hyperlvq", typer.main.get_command(app))]
    n_options = 0
    while groups:
        name, command = groups.pop()
        if hasattr(command, "commands"):
            groups += [(f"{name} {each}", inner) for each, inner in command.commands.items()]
            continue
        assert f">{name}<" in page
        for parameter in command.params:
            n_options += 1
            assert parameter.opts[-1] in page, (name, parameter.opts)
    assert n_options > 50
