"""
Prototypes of handwritten digits
================================

GLVQ on pixels learns prototypes that are images. They are not typical digits. A prototype is
dark where its class differs from similar classes.
"""

# %%

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hyperlvq import PrototypeDisplay, make_classifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
pixels = make_classifier("features", "glvq", random_state=0).fit(X_train, y_train)
layer = make_classifier("intrvfl", "glvq", random_state=0).fit(X_train, y_train)

# %%
# Behind the integer layer a prototype has 1000 activations. The display then shows the training
# sample closest to each prototype.

figure, (top, bottom) = plt.subplots(2, figsize=(7, 5.5), layout="constrained")
PrototypeDisplay.from_estimator(pixels, image_shape=(8, 8), ax=top)
top.set_title(f"prototypes of pixels: accuracy {pixels.score(X_test, y_test):.3f}")
PrototypeDisplay.from_estimator(layer, X_train, image_shape=(8, 8), ax=bottom)
bottom.set_title(
    f"samples closest to prototypes of activations: accuracy {layer.score(X_test, y_test):.3f}"
)
plt.show()
