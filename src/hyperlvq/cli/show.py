"""`hyperlvq show`: what a model file holds."""

from hyperlvq.cli.options import JsonOption, ModelArgument, give, read_saved


def show(model: ModelArgument, as_json: JsonOption = False) -> None:
    """Show a model: its settings, classes and columns, size and costs, what it was trained on.

    Example: hyperlvq show model.hlvq
    """
    from hyperlvq.cli.about_text import model_lines, python_model_lines

    about = read_saved(model).about
    lines = model_lines(about) if "trained" in about else python_model_lines(about)
    give(lines, about, as_json, quiet=False)
