from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import calibrant as cb
from calibrant.datasets import digits

data = digits()
X_train, X_rest, y_train, y_rest = train_test_split(
    data.X, data.y, train_size=0.2, random_state=0, stratify=data.y
)
X_cal, X_test, y_cal, y_test = train_test_split(
    X_rest, y_rest, train_size=0.5, random_state=0, stratify=y_rest
)
forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)
P_cal, P_test = forest.predict_proba(X_cal), forest.predict_proba(X_test)

# The default calibrator chooses by itself on one half; the other half, which nothing has seen,
# judges.
report = cb.report(y_cal, P_cal, test=(y_test, P_test), title="Handwritten digits, random forest")
