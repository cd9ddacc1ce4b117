"""The members that a class's page lists, links from code to the reference, and further pages."""

import inspect
import re
from importlib import import_module

from docutils import nodes
from sphinx import addnodes

#: What is put below pages whose Markdown is also read outside of the site.
APPENDED = {
    "decisions/README": "\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n",
    "study/README": "\n```{toctree}\n:hidden:\n\ninteractive\n```\n",
}


def own_members(module, class_name):
    """Return the public methods and properties that hyperlvq defines, and the inherited methods."""
    kind = getattr(import_module(module), class_name)
    own, inherited = [], []
    for name, kind_of_member, definer, _ in inspect.classify_class_attrs(kind):
        if name.startswith("_") or kind_of_member == "data":
            continue
        is_routing = name.endswith("_request")  # which scikit-learn gives every class
        package = "sklearn" if is_routing else definer.__module__.partition(".")[0]
        if package == "hyperlvq":
            own.append(name)
        elif package == "sklearn" and "method" in kind_of_member:
            inherited.append(name)
    return own, inherited


def link_names(app, doctree):
    """Make links of public names that Markdown can only set as code."""
    modules = [import_module(name) for name in ("hyperlvq", "hyperlvq.export")]
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext().removesuffix("()").removeprefix("hyperlvq.").removeprefix("export.")
        module = next((module for module in modules if name in module.__all__), None)
        if module is not None and isinstance(literal.parent, nodes.paragraph | nodes.entry):
            target = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=f"{module.__name__}.{name}"
            )
            literal.replace_self(target)
            target.append(literal)


def move_links(app, path, parent, content):
    """Mend links of a page from above `docs`; files that are no pages are named instead."""
    text = re.sub(r"\[([^]]+)\]\((?!\w+:|#|docs/)([^)]+)\)", r"\1 (`\2`)", content[0])
    content[0] = text.replace("](docs/", "](")


def append_toctree(app, docname, source):
    """Add the pages below a page to it."""
    source[0] += APPENDED.get(docname, "")


def setup(app):
    """Add this extension to Sphinx."""
    app.config.autosummary_context["own_members"] = own_members
    app.connect("source-read", append_toctree)
    app.connect("include-read", move_links)
    app.connect("doctree-read", link_names)
    return {"parallel_read_safe": True}
