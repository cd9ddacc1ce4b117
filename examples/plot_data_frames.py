"""
Data frames with text, booleans and missing values
==================================================

``FrameVectorizer`` encodes the columns of a data frame. Numbers stay as they are. Text,
categories and booleans become one feature per level, and one for missing values. In a pipeline,
the model accepts the data frame itself.
"""

# %%
# This generated table describes days of a café. The model predicts whether a day is busy.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from hyperlvq import FrameVectorizer, HyperLVQClassifier

rng = np.random.default_rng(0)
n_days = 800
frame = pd.DataFrame(
    {
        "temperature": rng.normal(14, 8, n_days).round(1),
        "weather": rng.choice(["sun", "clouds", "rain"], n_days),
        "weekday": rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], n_days),
        "holiday": rng.random(n_days) < 0.1,
        "milk price": rng.normal(1.1, 0.05, n_days).round(2),
    }
)
is_weekend = frame["weekday"].isin(["Sat", "Sun"]) | frame["holiday"]
is_fine = (frame["weather"] == "sun") & (frame["temperature"] > 12)
busy = np.where(is_weekend ^ is_fine ^ (rng.random(n_days) < 0.05), "busy", "quiet")
frame.loc[rng.random(n_days) < 0.1, "temperature"] = np.nan
frame.loc[rng.random(n_days) < 0.1, "weather"] = None
X_train, X_test, y_train, y_test = train_test_split(frame, busy, random_state=0)

model = make_pipeline(FrameVectorizer(), HyperLVQClassifier(random_state=0))
print(model.fit(X_train, y_train)[0].get_feature_names_out().tolist())
print(f"accuracy {model.score(X_test, y_test):.2f} on {len(y_test)} days")

# %%
# Shuffling a column shows how much accuracy depends on it. The price of milk is irrelevant here,
# and the model ignores it.

found = permutation_importance(model, X_test, y_test, n_repeats=10, random_state=0)
order = found.importances_mean.argsort()
figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.barh(frame.columns[order], found.importances_mean[order], xerr=found.importances_std[order])
ax.set_xlabel("accuracy lost by shuffling the column")
plt.show()
