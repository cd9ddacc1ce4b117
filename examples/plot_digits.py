"""
Handwritten digits: prototypes as pictures
==========================================

Prototypes of bare pixels are pictures, so one can look at what GLVQ has learnt. They are no
typical digits: a prototype is dark where its class differs from those it is taken for.
"""

# %%

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split

from hyperlvq import PrototypeDisplay, make_classifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
pixels = make_classifier("features", "glvq", random_state=0).fit(X_train, y_train)
layer = make_classifier("intrvfl", "glvq", random_state=0).fit(X_train, y_train)

# %%
# Behind the integer layer a prototype is a row of 1000 numbers, and nobody can look at it. The
# display then shows the training sample that is closest to each.

figure, (top, bottom) = plt.subplots(2, figsize=(7, 5.5), layout="constrained")
PrototypeDisplay.from_estimator(pixels, image_shape=(8, 8), ax=top)
top.set_title(f"prototypes of pixels: {pixels.score(X_test, y_test):.3f} of the test digits right")
PrototypeDisplay.from_estimator(layer, X_train, image_shape=(8, 8), ax=bottom)
bottom.set_title(
    f"samples closest to prototypes of activations: {layer.score(X_test, y_test):.3f} right"
)
plt.show()

# %%
# What is taken for what: left the confusion matrix of the second model, right the digits that it
# gets wrong.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
found = layer.predict(X_test)
ConfusionMatrixDisplay.from_predictions(y_test, found, ax=left, colorbar=False, cmap="Blues")
right.axis("off")
wrong = (found != y_test).nonzero()[0][:12]
for place, index in enumerate(wrong):
    picture = right.inset_axes((place % 4 / 4, 0.68 - place // 4 / 3, 0.22, 0.22))
    picture.imshow(X_test[index].reshape(8, 8), cmap="gray_r")
    picture.set_title(f"{y_test[index]} taken for {found[index]}", fontsize=9)
    picture.set(xticks=[], yticks=[])
plt.show()
