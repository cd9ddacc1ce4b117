"""Settings of the documentation site; `make docs` builds it without the network."""

import sys
from pathlib import Path

from sphinx_gallery.sorting import FunctionSortKey

import hyperlvq

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

project = "hyperlvq"
author = "the hyperlvq developers"
project_copyright = "the hyperlvq developers, BSD-3-Clause"
release = version = hyperlvq.__version__

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "command_line",
    "members",
    "study_pages",
]
exclude_patterns = ["_ext", "_templates", "pictures", "gallery/**/*.ipynb", "gallery/**/*.py"]
templates_path = ["_templates"]
default_role = "py:obj"
smartquotes = False  # which would make one dash of the two before an option
suppress_warnings = ["config.cache"]  # functions for templates are no values to keep

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections have the types
numpydoc_show_class_members = False  # the template of classes lists them

copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Pictures have no background, and colours that can be read on white and on black.
plot_basedir = str(DOCS)
plot_formats = [("svg", 100)]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_apply_rcparams = True
plot_rcparams = {
    "axes.edgecolor": "#808890",
    "axes.facecolor": "none",
    "axes.labelcolor": "#808890",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": "#808890",
    "axes.titlesize": 11,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "font.size": 10,
    "legend.frameon": False,
    "legend.labelcolor": "#808890",
    "savefig.facecolor": "none",
    "text.color": "#808890",
    "xtick.color": "#808890",
    "ytick.color": "#808890",
}

#: The gallery, from first steps to special topics.
EXAMPLES = [
    "plot_data_frames.py",
    "plot_missing_values.py",
    "plot_imbalanced.py",
    "plot_calibration.py",
    "plot_feature_relevance.py",
    "plot_vote.py",
    "plot_decision_boundaries.py",
    "plot_prototypes_moving.py",
    "plot_digits.py",
    "plot_accuracy_against_units.py",
    "plot_online_learning.py",
    "plot_tiny_models.py",
    "plot_export_to_c.py",
    "plot_learning_on_a_device.py",
    "plot_tensors.py",
    "plot_dask.py",
]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("hyperlvq",),
    "download_all_examples": False,
    "image_srcset": ["2x"],
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
    "show_memory": False,
    "show_signature": False,
    "within_subsection_order": FunctionSortKey(EXAMPLES.index),
    "write_computation_times": False,
}

linkcheck_ignore = ["pages/"]  # the study's, which only the site has

html_theme = "pydata_sphinx_theme"
html_title = "hyperlvq"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "getting_started": [], "paper": []}
