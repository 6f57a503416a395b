import json

from calibrant.decisions import Certificate


def test_it_is_one_sentence_and_plain_values():
    said = Certificate(1000.0, 547.0, 41.0, 0.1, 0.0945, 0.9, "exact binomial, fixed sequence")
    assert (
        str(said)
        == "Accepts 547 of 1,000 rows (54.7 %), 41 of them wrong; at most 10 % of accepted new rows"
        " are wrong, with confidence 90 % (exact binomial, fixed sequence)."
    )
    assert json.loads(json.dumps(said.to_dict()))["share"] == 0.547


def test_a_loss_is_no_number_of_errors():
    said = Certificate(50.0, 30.0, 1.25, 0.1, 0.09, 0.9, "betting", "clusters", "loss")
    assert (
        "with a summed loss of 1.25; the mean loss of accepted new clusters is at most 0.1"
        in str(said)
    )
