"""`hyperlvq costs`: the paper's table of what training costs, for given sizes."""

from typing import Annotated

import typer

from hyperlvq.cli.options import JsonOption, print_result
from hyperlvq.cli.text import aligned


def costs(
    n_samples: Annotated[int, typer.Option(min=1, help="Training samples T.")],
    n_classes: Annotated[int, typer.Option(min=2, help="Classes L.")],
    n_features: Annotated[
        int | None, typer.Option(min=1, help="Features K; with it, the costs of a prediction too.")
    ] = None,
    n_units: Annotated[int, typer.Option(min=1, help="Hidden units N.")] = 1000,
    prototypes_per_class: Annotated[int, typer.Option(min=1, help="Prototypes P.")] = 1,
    n_iter: Annotated[int, typer.Option(min=1, help="Iterations I of GLVQ.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Show what training costs by Table I of the paper, and what a prediction of intRVFL costs.

    Example: hyperlvq costs --n-samples 1000 --n-classes 3 --n-units 500 --n-features 20
    """
    from hyperlvq.costs import FORMS, flops_by_method, prediction_cost

    flops = flops_by_method(n_samples, n_units, n_classes, prototypes_per_class, n_iter).values()
    training = dict(zip(("RLS", "RLS by QR", "GLVQ"), flops, strict=True))
    rows = [[name, f"{f:.4g}", f"{f / training['RLS']:.4f}"] for name, f in training.items()]
    lines = aligned([["training", "flops", "relative"], *rows])
    prediction = {}
    if n_features is not None:
        sizes = n_features, n_units, n_classes * prototypes_per_class
        prediction = {
            form: prediction_cost("intrvfl", *sizes, form=form)._asdict() for form in FORMS
        }
        rows = [
            [f"intRVFL + GLVQ, {form}", *map(str, cost.values())]
            for form, cost in prediction.items()
        ]
        lines += ["", *aligned([["prediction", "bytes", "operations"], *rows])]
    print_result(
        lines, {"training_flops": training, "prediction": prediction}, as_json, quiet=False
    )
