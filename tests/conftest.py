"""Settings that must stand before scipy is imported."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn skips its array API checks without
