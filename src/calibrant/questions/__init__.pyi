from calibrant.questions.automatic import AutoQuestionCalibrator as AutoQuestionCalibrator
from calibrant.questions.automatic import IsotonicQuestions as IsotonicQuestions
from calibrant.questions.calibrator import QuestionCalibrator as QuestionCalibrator
from calibrant.questions.cascade import QuestionCascade as QuestionCascade
from calibrant.questions.domain import QuestionAccuracy as QuestionAccuracy
from calibrant.questions.domain import QuestionBrier as QuestionBrier
from calibrant.questions.domain import QuestionGap as QuestionGap
from calibrant.questions.domain import QuestionLoss as QuestionLoss
from calibrant.questions.domain import QuestionRankedScore as QuestionRankedScore
from calibrant.questions.domain import question_accuracy as question_accuracy
from calibrant.questions.domain import question_brier as question_brier
from calibrant.questions.domain import question_gap as question_gap
from calibrant.questions.domain import question_log_loss as question_log_loss
from calibrant.questions.domain import question_ranked_score as question_ranked_score
from calibrant.questions.judged import RateComparison as RateComparison
from calibrant.questions.judged import Transport as Transport
from calibrant.questions.judged import audit_transport as audit_transport
from calibrant.questions.judged import compare_rates as compare_rates
from calibrant.questions.rates import RateEstimate as RateEstimate
from calibrant.questions.rates import estimate_rate as estimate_rate
from calibrant.questions.rates import labels_for_width as labels_for_width
from calibrant.questions.read import read_questions as read_questions
from calibrant.questions.record import Questions as Questions
from calibrant.questions.rules import QuestionRules as QuestionRules

__all__: list[str]
