from calibrant._numerics.threads import get_threads as get_threads
from calibrant._numerics.threads import set_threads as set_threads
from calibrant._numerics.threads import threads as threads

__all__: list[str]
