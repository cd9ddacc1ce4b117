typedef struct {
    ${multiplier_type} multiplier;
?if has_offsets
    uint${product_bits}_t offset;
?end
    ${unsigned_type} span;
    ${value_type} minimum;
?if is_mixed
    uint8_t settles;
?end
} ${name}_scaling;

?if index_type
/* The distinct scalings, and the scaling of each feature. */
?end
${scaling_table}
/*
 * Return round(${n_units} * (x - minimum) / (maximum - minimum)), halves to even, limited to
?if remainder_bits
 * 0 .. ${n_units}. A product and a shift are off by at most one, which the remainder corrects.
?else
 * 0 .. ${n_units}. The product and shift were checked for every level.
?end
 */
static ${name}_level ${name}_level_of(unsigned feature, ${value_type} x)
{
    ${name}_scaling scaling;
    ${unsigned_type} distance;
    uint${product_bits}_t level;
?if remainder_bits
    int${remainder_bits}_t span, remainder;
?end

?if is_shared
    (void)feature; /* all features share a scaling */
?end
    ${NAME}_READ(scaling, &${name}_scalings[${scaling_index}]);
    if (x < scaling.minimum) {
        return 0;
    }
    /* Modulo 2^${value_bits}, so that wide ranges do not overflow. */
    distance = (${unsigned_type})((${unsigned_type})x - (${unsigned_type})scaling.minimum);
    if (distance >= scaling.span) {
        return ${NAME}_UNITS;
    }
    level = ((uint${product_bits}_t)distance * scaling.multiplier + ${offset}) >> ${shift};
${settling}    return (${name}_level)level;
}
