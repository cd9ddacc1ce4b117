"""Plot accuracy and log loss of the models in the study."""

import matplotlib.pyplot as plt
import pandas as pd
from shared import BLUE, GREY, ORANGE

standings = pd.read_csv("../study/strict/standings.csv")
standings = standings[standings["group"] == "all data sets"]
standings = standings[standings["mean_log_loss"] < 0.6]  # excludes 0.86 and missing

figure, ax = plt.subplots(figsize=(5.2, 3.6))
for row in standings.itertuples():
    is_ours = row.model.startswith(("hyperlvq", "recipe"))
    is_left = row.model.startswith(("hyperlvq", "boosting", "mlp"))  # where the label has room
    ax.scatter(row.mean_accuracy, row.mean_log_loss, s=90, color=ORANGE if is_ours else GREY)
    ax.annotate(
        row.title,
        (row.mean_accuracy, row.mean_log_loss),
        xytext=(-9 if is_left else 9, 0),
        textcoords="offset points",
        ha="right" if is_left else "left",
        va="center",
        color=ORANGE if is_ours else GREY,
        weight="bold" if is_ours else "normal",
    )
ax.annotate(
    "better",
    xy=(0.807, 0.42),
    xytext=(0.803, 0.47),
    color=BLUE,
    arrowprops={"arrowstyle": "->", "color": BLUE},
)
ax.set(
    xlabel="mean accuracy on 120 data sets",
    ylabel="mean log loss (lower is better)",
    xlim=(0.789, 0.852),
    ylim=(0.585, 0.38),
)
