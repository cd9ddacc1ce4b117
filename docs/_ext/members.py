"""Lists of a class's own members for the template of autosummary, and pages of decisions."""

import inspect
from importlib import import_module

#: What is put below pages whose Markdown is also read outside of the site.
APPENDED = {
    "decisions/README": "\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n",
    "study/README": "\n```{toctree}\n:hidden:\n\ninteractive\n```\n",
}


def own_members(module, class_name):
    """Return the public methods and properties that hyperlvq defines, and the inherited methods."""
    kind = getattr(import_module(module), class_name)
    own, inherited = [], []
    for name, kind_of_member, definer, member in inspect.classify_class_attrs(kind):
        if name.startswith("_") or not (callable(member) or isinstance(member, property)):
            continue
        is_routing = name.endswith("_request")  # which scikit-learn gives every class
        package = "sklearn" if is_routing else definer.__module__.partition(".")[0]
        if package == "hyperlvq":
            own.append(name)
        elif package == "sklearn" and "method" in kind_of_member:
            inherited.append(name)
    return own, inherited


def append_toctree(app, docname, source):
    """Add the pages below a page to it."""
    source[0] += APPENDED.get(docname, "")


def setup(app):
    """Add this extension to Sphinx."""
    app.config.autosummary_context["own_members"] = own_members
    app.connect("source-read", append_toctree)
    return {"parallel_read_safe": True}
