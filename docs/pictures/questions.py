"""Four questions of a language model: all answers, and those that a rule uses."""

import matplotlib.pyplot as plt
import numpy as np

import calibrant as cb

rng = np.random.default_rng(3)
names, ease = ("spam", "refund", "topic", "tone"), (6.0, 4.0, 2.5, 1.8)


def mails(n):
    """(n, 4) probabilities of yes, and what was right."""
    p = np.column_stack([rng.beta(one, 0.9, n) for one in ease])
    return p, (rng.random(p.shape) < p).astype(int)


risk = 0.1
rules = cb.QuestionRules(risk=risk, confidence=0.9).fit(cb.read_questions(*mails(1500)))
new = cb.read_questions(*mails(3000))
used = rules.decide(new) == "answer"
_, ax = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
for k, name in enumerate(names):
    own = new.question.index == k
    errors = 100 * np.array([1 - new.correct[own].mean(), 1 - new.correct[own & used].mean()])
    share = 100 * np.array([1.0, used[own].mean()])
    ax.annotate("", (share[1], errors[1]), (share[0], errors[0]), arrowprops={"arrowstyle": "->"})
    ax.plot(share[0], errors[0], "o", color="#c2410c", label="all answers" if k == 0 else None)
    ax.plot(share[1], errors[1], "o", color="#0b6e99", label="answers used" if k == 0 else None)
    ax.annotate(name, (share[1], errors[1]), xytext=(-4, -12), textcoords="offset points")
ax.axhline(100 * risk, color="0.4", linestyle="--", label="promise")
ax.set(xlim=(0, 106), ylim=(0, None))
ax.set(xlabel="Answers used (% of the new ones)", ylabel="Wrong among them (%)")
ax.legend(frameon=False, fontsize="small", loc="upper left")
