"""The study's interactive pages, made of the committed records when the site is built."""

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib

from hyperlvq.report.page import write_report

#: The folder of the records of each page, and the model that others are tested against.
PAGES = {"strict": "hyperlvq", "paper": None, "searched": None, "tables": "hyperlvq"}


def write_pages(app, exception):
    """Write the pages to `study/pages`, unless those there are newer than their records."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir, "study", "pages")
    folder.mkdir(parents=True, exist_ok=True)
    for name, reference in PAGES.items():
        records = Path(app.srcdir, "study", name, "records.jsonl.gz")
        page = folder / f"{name}.html"
        if page.exists() and page.stat().st_mtime > records.stat().st_mtime:
            continue
        with TemporaryDirectory() as study, matplotlib.rc_context():
            matplotlib.rcdefaults()  # pictures of other pages have settings of their own
            Path(study, "records.jsonl").write_bytes(gzip.decompress(records.read_bytes()))
            write_report(study, page, reference=reference)


def setup(app):
    """Add this extension to Sphinx."""
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": True}
