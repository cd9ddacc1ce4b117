"""Many models of one data set trained at once, with numpy or, on a GPU, with torch.

One code serves both: a `Backend` makes the arrays, and all else uses what the two have in common.
"""
