"""Model files with something changed in them, for tests of whatever reads model files."""

import io
import json
import zipfile

from hyperlvq.saving import NOTES_FILE


def with_notes(content, **changes):
    """Return a model file with other notes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name == NOTES_FILE:
                part = json.dumps({**json.loads(part), **changes}).encode()
            new.writestr(name, part)
    return buffer.getvalue()
