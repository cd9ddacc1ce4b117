"""What scikit-learn's own compositions of models have in them beside estimators.

A file can call anything listed here with any arguments, so nothing belongs here that does more than
compute. These hold data, other parts of the model or a function, which must itself be listed, and
build no code from them, as scipy's distributions do; none is compiled code that would trust the
indices of a file, as trees do.
"""

BY_MODULE = {
    "sklearn.calibration": ["_CalibratedClassifier", "_SigmoidCalibration", "_TemperatureScaling"],
    "sklearn.metrics._classification": [
        "accuracy_score",
        "balanced_accuracy_score",
        "brier_score_loss",
        "cohen_kappa_score",
        "d2_brier_score",
        "d2_log_loss_score",
        "f1_score",
        "fbeta_score",
        "hamming_loss",
        "hinge_loss",
        "jaccard_score",
        "log_loss",
        "matthews_corrcoef",
        "precision_score",
        "recall_score",
        "zero_one_loss",
    ],
    "sklearn.metrics._ranking": [
        "average_precision_score",
        "roc_auc_score",
        "top_k_accuracy_score",
    ],
    "sklearn.metrics._scorer": [
        "_CurveScorer",
        "_PassthroughScorer",
        "_Scorer",
        "negative_likelihood_ratio",
        "positive_likelihood_ratio",
    ],
    # experimental: skops trusts these only if they were enabled before it was imported
    "sklearn.model_selection._search_successive_halving": [
        "HalvingGridSearchCV",
        "HalvingRandomSearchCV",
    ],
    "sklearn.model_selection._split": [
        "GroupKFold",
        "GroupShuffleSplit",
        "KFold",
        "LeaveOneGroupOut",
        "LeaveOneOut",
        "LeavePGroupsOut",
        "LeavePOut",
        "PredefinedSplit",
        "RepeatedKFold",
        "RepeatedStratifiedKFold",
        "ShuffleSplit",
        "StratifiedGroupKFold",
        "StratifiedKFold",
        "StratifiedShuffleSplit",
        "TimeSeriesSplit",
        "_CVIterableWrapper",
    ],
    "sklearn.utils._bunch": ["Bunch"],
    "sklearn.utils._metadata_requests": ["MetadataRequest", "MethodMetadataRequest"],
}
#: Their full names.
SCIKIT_LEARN_PARTS = frozenset(
    f"{module}.{name}" for module, names in BY_MODULE.items() for name in names
)
