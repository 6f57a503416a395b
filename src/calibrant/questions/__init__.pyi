from calibrant.questions.automatic import AutoQuestionCalibrator as AutoQuestionCalibrator
from calibrant.questions.automatic import IsotonicQuestions as IsotonicQuestions
from calibrant.questions.calibrator import QuestionCalibrator as QuestionCalibrator
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
from calibrant.questions.read import read_questions as read_questions
from calibrant.questions.record import Questions as Questions
from calibrant.questions.rules import QuestionRules as QuestionRules

__all__: list[str]
