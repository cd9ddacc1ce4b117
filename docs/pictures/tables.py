"""Show rows of a table and their features."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from shared import BLUE_TO_ORANGE, GREY

from hyperlvq import FrameVectorizer

columns = ["island", "bill_length_mm", "body_mass_g", "sex"]
penguins = pd.read_csv("../penguins.csv")[columns]
vectorizer = FrameVectorizer().fit(penguins)
rows = penguins.iloc[[0, 3, 20, 30, 160]]
features = vectorizer.transform(rows)
names = vectorizer.get_feature_names_out()

figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 4.2))
cells = rows.astype(object).where(rows.notna(), "(missing)").to_numpy()
top.axis("off")
top.set_title("Five rows of a table", loc="left")
table = top.table(cells.astype(str), colLabels=columns, loc="center", cellLoc="center")
table.scale(1, 1.3)
for cell in table.get_celld().values():
    cell.set(edgecolor=GREY, facecolor="none")

# Colours scale each feature by its range.
everything = vectorizer.transform(penguins)
low, high = np.nanmin(everything, axis=0), np.nanmax(everything, axis=0)
bottom.pcolormesh(
    ((features - low) / (high - low))[::-1],
    cmap=BLUE_TO_ORANGE,
    vmin=0,
    vmax=1,
    edgecolors="white",
)
for row, values in enumerate(features[::-1]):
    for column, value in enumerate(values):
        bottom.text(column + 0.5, row + 0.5, f"{value:g}", ha="center", va="center", color="black")
bottom.set_xticks(np.arange(len(names)) + 0.5, [name.replace("_", "\n", 1) for name in names])
bottom.set_facecolor("white")  # missing numbers
bottom.set_yticks([])
bottom.tick_params(length=0)
bottom.spines[:].set_visible(False)
bottom.set_title("The features from FrameVectorizer", loc="left")
