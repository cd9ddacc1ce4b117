"""The direction of L-BFGS, as weights of the vectors that it remembers."""

import numpy as np

from hyperlvq.kernels.compiled import compiled


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
