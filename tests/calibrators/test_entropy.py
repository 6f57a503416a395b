import numpy as np

from calibrant.calibrators import Entropy


def test_uniform_is_zero_and_certain_is_one():
    np.testing.assert_allclose(Entropy().score([[0.25] * 4, [0, 0, 1, 0]]), [0.0, 1.0])


def test_half_and_half_of_four_is_one_half():
    np.testing.assert_allclose(Entropy().score([[0.5, 0.5, 0, 0]]), [0.5])


def test_logits_give_the_same():
    P = np.random.default_rng(0).dirichlet(np.ones(5), 20)
    np.testing.assert_allclose(
        Entropy(inputs="logit").score(np.log(P)), Entropy().score(P), atol=1e-12
    )
