"""
Export to C and test it
=======================

``to_c`` writes a trained model as C99 with integers only. ``make_plan`` returns the same
integer model in Python. With ``vectors`` the export contains a self-test, a program that exits
with 0 if the C and the plan agree on all these samples.
"""

# %%

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hyperlvq import make_classifier
from hyperlvq.export import make_plan, predict_budget, to_c

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = make_classifier(n_units=256, clip=7, prototypes_per_class=2, random_state=0)
plan = make_plan(model.fit(X_train, y_train), name="digits", input="int16")
agreement = (plan.predict(X_test) == model.predict(X_test)).mean()
print(f"integer and float model agree on {agreement:.1%} of {len(X_test)} samples")

# %%
# Compile and run the C.

compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
with TemporaryDirectory() as folder:
    files = [path.name for path in to_c(plan, folder, vectors=X_test)]
    print("written:", *files)
    if compiler is None:
        print("No C compiler found, self-test skipped.")
    else:
        program = Path(folder) / "selftest"
        sources = [name for name in files if name.endswith(".c")]
        subprocess.run([compiler, "-O2", *sources, "-o", program], cwd=folder, check=True)
        subprocess.run([program], check=True)
        print(f"C and plan agree on all {len(X_test)} samples.")

# %%
# Flash, stack and instructions on three chips, predicted without their compilers.

chips = ["cortex-m3", "riscv32", "avr"]
budgets = [predict_budget(plan, chip) for chip in chips]
figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
titles = {
    "flash": "bytes of flash",
    "stack": "bytes of stack",
    "instructions": "instructions per prediction",
}
for ax, (field, title) in zip(panels, titles.items(), strict=True):
    bars = ax.bar(chips, [getattr(budget, field) for budget in budgets])
    ax.bar_label(bars, fmt="{:,.0f}")
    ax.set_title(title)
    ax.margins(y=0.15)
plt.show()
