import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calibrant as cb
from calibrant.datasets import digits

data = digits()
label = np.where(data.y == 8, "an eight", "another digit")
X_train, X_rest, y_train, y_rest = train_test_split(
    data.X, label, train_size=0.4, random_state=0, stratify=label
)

# Class weights make both classes equally heavy: good for finding eights, and wrong as
# probabilities.
model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, class_weight="balanced")).fit(
    X_train, y_train
)

title = "Is it an eight? Trained with balanced class weights"
report = cb.report(
    y_rest, model.predict_proba(X_rest), classes=model.classes_, target="an eight", title=title
)
