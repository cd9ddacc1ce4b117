"""The direction of L-BFGS, as weights of the vectors that it remembers, and its numbers.

They are those of scipy's L-BFGS-B, for one problem and for many at once.
"""

import numpy as np

from hyperlvq.kernels.compiled import compiled

MEMORY = 10
#: Points tried along one line.
MOST_TRIALS = 20
#: A cost that falls by no more than this share has settled.
SMALLEST_DECREASE = 2.220446049250313e-09
#: A step is accepted if the cost falls by this share of what the slope at its start promises,
SUFFICIENT_DECREASE = 1e-3
#: and if what remains of that slope is at most this share.
CURVATURE = 0.9
#: An interval narrower than this share of its longer step ends the search along a line.
NARROW = 0.1
#: A step that was too short grows by at most this share of what the bracket leaves,
INWARD = 0.66
#: and without a bracket by so many times its distance from the best step.
OUTWARD = 4.0


@compiled
def direction_weights(s_dot_y, y_dot_y, products, scale, oldest, n_pairs):
    """Return the weights of steps and changes in -Hg, less the share of the gradient itself.

    With the steps S and the changes of gradient Y as columns, R the upper triangle of SᵀY, D its
    diagonal and γ = sᵀy/yᵀy of the latest pair (Byrd, Nocedal and Schnabel, 1994),

        Hg = γg + Su - γYa,    a = R⁻¹Sᵀg,    u = R⁻ᵀ(Da + γYᵀYa - γYᵀg).

    Pairs lie in a ring; `oldest` is the place of the first. `products` are Sᵀg, then Yᵀg; `scale`
    is γ. Places without a pair have weight 0.
    """
    memory = len(s_dot_y)
    places = (oldest + np.arange(n_pairs)) % memory
    weights = np.zeros(2 * memory)
    a, u = weights[memory:], weights[:memory]
    for age in range(n_pairs - 1, -1, -1):
        place = places[age]
        rest = products[place]
        for later in places[age + 1 :]:
            rest -= s_dot_y[place, later] * a[later]
        a[place] = rest / s_dot_y[place, place]
    for age in range(n_pairs):
        place = places[age]
        rest = s_dot_y[place, place] * a[place] - scale * products[memory + place]
        for other in places:
            rest += scale * y_dot_y[place, other] * a[other]
        for earlier in places[:age]:
            rest -= s_dot_y[earlier, place] * u[earlier]
        u[place] = rest / s_dot_y[place, place]
    weights[:memory] *= -1
    weights[memory:] *= scale
    return weights
