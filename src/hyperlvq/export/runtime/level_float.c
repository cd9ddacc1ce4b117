#include <float.h>
#if defined(__FAST_MATH__) || FLT_EVAL_METHOD == 2
#error "levels are exact only in IEEE float arithmetic: leave out -ffast-math and the x87 unit"
#endif

typedef struct {
    float offset; /* the negative minimum, because a subtraction may need another library routine */
    float scale;
} ${name}_scaling;

?if index_type
/* The distinct scalings, and the scaling of each feature. */
?end
${scaling_table}
/*
 * Return round((x - minimum) * scale), halves to even, limited to 0 .. ${n_units}; 0 for NaN.
 * No product is added to anything, so a fused multiply-add cannot change the rounding.
 */
static ${name}_level ${name}_level_of(unsigned feature, float x)
{
    ${name}_scaling scaling;
    float position, middle;
    unsigned level;

?if is_shared
    (void)feature; /* all features share a scaling */
?end
    ${NAME}_READ(scaling, &${name}_scalings[${scaling_index}]);
    position = (x + scaling.offset) * scaling.scale;
    if (!(position > 0.0f)) {
        return 0;
    }
    if (position >= (float)${NAME}_UNITS) {
        return ${NAME}_UNITS;
    }
    level = (unsigned)position;
    middle = (float)level + 0.5f;
    if (position > middle || (position == middle && (level & 1u))) {
        level++;
    }
    return (${name}_level)level;
}
