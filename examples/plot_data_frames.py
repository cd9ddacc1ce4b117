"""
Data frames with text, truth values and gaps
============================================

``FrameVectorizer`` makes features of the columns of a data frame: numbers stay as they are;
text, categories and truth values become one feature per level, with one for missing values. In
a pipeline, the model takes the frame itself.
"""

# %%
# A generated table of a café's days: was it busy?

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
print(f"{model.score(X_test, y_test):.2f} of {len(y_test)} days right")

# %%
# How much accuracy is lost when a column's values are shuffled? The milk price has nothing to do
# with it, and the model has found that out.

found = permutation_importance(model, X_test, y_test, n_repeats=10, random_state=0)
order = found.importances_mean.argsort()
figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.barh(frame.columns[order], found.importances_mean[order], xerr=found.importances_std[order])
ax.set_xlabel("accuracy that is lost when the column is shuffled")
plt.show()
