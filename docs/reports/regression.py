import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split

import calibrant as cb

X, y = load_diabetes(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(X, y, train_size=0.4, random_state=0)
forest = RandomForestRegressor(60, random_state=0).fit(X_train, y_train)
trees = np.stack([tree.predict(X_rest) for tree in forest.estimators_])

# The spread of the trees is the error bar: a popular one, and too narrow, since it leaves out the
# noise.
report = cb.report(
    y_rest,
    trees.mean(axis=0),
    trees.std(axis=0),
    title="Diabetes a year on, spread of a random forest",
)
