"""Names of functions that compile in C and in JavaScript."""

import re

from calibrant.errors import InputError

__all__ = ["require_name"]

#: Reserved words of C or of JavaScript, and names that the code itself uses.
WORDS = """
alignas alignof arguments asm auto await bool break case catch char class classes const constexpr
continue debugger default delete do double else enum eval export extends extern false finally
float Float64Array for function goto groups i if implements import in Infinity inline instanceof
int interface k let linux long main Math NaN new null nullptr outputs p package position private
protected public q register restrict return short signed sizeof static static_assert struct super
switch this thread_local throw true try typedef typeof typeof_unqual undefined union unix unsigned
var void volatile while with yield
"""
#: Names that <math.h> declares for doubles, and for the other types with a suffix.
FUNCTIONS = """
acos acosh acospi asin asinh asinpi atan atan2 atan2pi atanh atanpi canonicalize cbrt ceil
compoundn copysign cos cosh cospi drem erf erfc exp exp10 exp10m1 exp2 exp2m1 expm1 fabs fdim
finite floor fma fmax fmaximum fmaximum_mag fmaximum_mag_num fmaximum_num fmaxmag fmin fminimum
fminimum_mag fminimum_mag_num fminimum_num fminmag fmod frexp fromfp fromfpx gamma getpayload
hypot ilogb isinf isnan j0 j1 jn ldexp lgamma lgamma_r llogb llrint llround log log10 log10p1
log1p log2 log2p1 logb logp1 lrint lround M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E
M_LOG2E M_PI M_PI_2 M_PI_4 M_SQRT1_2 M_SQRT2 modf nan nearbyint nextafter nextdown nexttoward
nextup pow pown powr remainder remquo rint rootn round roundeven rsqrt scalb scalbln scalbn
setpayload setpayloadsig significand sin sincos sinh sinpi sqrt tan tanh tanpi tgamma totalorder
totalordermag trunc ufromfp ufromfpx y0 y1 yn
"""
#: Its other names.
OTHERS = """
daddl ddivl dfmal dmull DOMAIN double_t dsqrtl dsubl fadd faddl fdiv fdivl ffma ffmal float_t fmul
fmull FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_INT_DOWNWARD
FP_INT_TONEAREST FP_INT_TONEARESTFROMZERO FP_INT_TOWARDZERO FP_INT_UPWARD FP_LLOGB0 FP_LLOGBNAN
FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO fpclassify fsqrt fsqrtl fsub fsubl HUGE HUGE_VAL HUGE_VALF
HUGE_VALL INFINITY iscanonical iseqsig isfinite isgreater isgreaterequal isless islessequal
islessgreater isnormal issignaling issubnormal isunordered iszero lgammaf_r lgammal_r
MATH_ERREXCEPT math_errhandling MATH_ERRNO matherr MAXFLOAT NAN OVERFLOW PLOSS signbit signgam
SING SNAN SNANF SNANL TLOSS UNDERFLOW
"""
SUFFIXES = ("", "f", "l", "f32", "f32x", "f64", "f64x", "f128")
RESERVED = {
    *WORDS.split(),
    *OTHERS.split(),
    *(name + suffix for name in FUNCTIONS.split() for suffix in SUFFIXES),
}


def require_name(name: object) -> str:
    """Return the name, if it is a valid function name in these languages."""
    if not (isinstance(name, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)):
        raise InputError(
            f"name must be letters, digits and underscores, and start with a letter; got {name!r};"
            ' "calibrate" is usual.'
        )
    if name in RESERVED:
        raise InputError(
            "name must not be a reserved word of the language, or a name of <math.h>; got"
            f' {name!r}; "calibrate" is usual.'
        )
    return name
