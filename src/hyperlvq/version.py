"""The version and its documentation, for modules that must not import the whole package."""

__version__ = "0.1.0"

#: Where the documentation is.
DOCUMENTATION = "https://hyperlvq.readthedocs.io/"


class DocumentedMixin:
    """Links the HTML view of an estimator to its page of the reference.

    It must stand before scikit-learn's BaseEstimator, whose links lead to scikit-learn.
    """

    _doc_link_module = "hyperlvq"
    _doc_link_template = f"{DOCUMENTATION}reference/generated/hyperlvq.{{estimator_name}}.html"
