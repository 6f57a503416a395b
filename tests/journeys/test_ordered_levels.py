"""A person with predicted ratings from 1 to 5 asks what the rating will be, and how sure it is."""

import numpy as np

import calibrant as cb
from calibrant.questions import question_ranked_score

CUTS = np.array([-5.0, -1.5, 1.0, 4.0])


def levels(centre, cuts):
    below = 1.0 / (1.0 + np.exp(centre[:, None] - cuts))
    return np.diff(np.column_stack([np.zeros(len(centre)), below, np.ones(len(centre))]))


def world(seed, n):
    """The model's probabilities, too sure and a level too high, the ratings, and the truth."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(0.0, 4.0, n)
    truth = levels(centre, CUTS)
    y = (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return levels(2.0 * centre + 0.8, 2.0 * CUTS), y, truth


def ranked(P, y):
    return question_ranked_score(None, cb.read_questions(P, y, ordered=True))


def test_ratings_are_nearer_to_the_truth_and_their_mean_is_right():
    scores, means = [], []
    for seed in range(6):
        P, y, _ = world(seed, 200)
        new, y_new, truth = world(seed + 100, 4_000)
        Q = cb.QuestionCalibrator(ordered=True).fit(P, y).predict(new)
        scores.append([ranked(one, y_new) for one in (new, Q, truth)])
        means.append([(one @ np.arange(1, 6)).mean() for one in (new, Q, truth)])
        assert (np.diff(Q.cumsum(axis=1), axis=1) >= 0.0).all()
    before, after, best = np.mean(scores, axis=0)
    # Most of what the model loses beside the truth is won back.
    assert after - best < 0.3 * (before - best)
    away = np.abs(np.array(means) - np.array(means)[:, 2:]).mean(axis=0)
    assert away[1] < 0.6 * away[0]


def test_the_chance_of_a_high_rating_can_be_believed():
    away = []
    for seed in range(6):
        P, y, _ = world(seed, 200)
        new, _, truth = world(seed + 100, 4_000)
        Q = cb.QuestionCalibrator(ordered=True).fit(P, y).predict(new)
        high, said, true = (one[:, 3:].sum(axis=1) for one in (new, Q, truth))
        away.append([np.abs(high - true).mean(), np.abs(said - true).mean()])
    before, after = np.mean(away, axis=0)
    assert after < 0.025
    assert after < 0.5 * before


def test_used_ratings_are_as_right_as_promised():
    kept = 0
    new, _, truth = world(50, 4_000)
    for seed in range(8):
        P, y, _ = world(seed, 1_000)
        rules = cb.QuestionRules(
            0.2, 0.9, calibrator=cb.QuestionCalibrator(), when_uncertain="answer_none"
        ).fit(cb.read_questions(P, y, ordered=True))
        used = rules.decide(cb.read_questions(new, ordered=True)) == "answer"
        right = truth[np.arange(len(new)), new.argmax(axis=1)]
        kept += not used.any() or 1.0 - right[used].mean() <= 0.2
    assert kept >= 6
