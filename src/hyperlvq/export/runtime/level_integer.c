typedef struct {
    ${multiplier_type} multiplier;
${offset_field}    ${unsigned_type} span;
    ${value_type} minimum;
${settles_field}} ${name}_scaling;

${scaling_table}
/*
 * Return round(${n_units} * (x - minimum) / (maximum - minimum)), halves to even, limited to
 * 0 .. ${n_units}: a product and a shift ${exactness}.
 */
static ${name}_level ${name}_level_of(unsigned feature, ${value_type} x)
{
    ${name}_scaling scaling;
    ${unsigned_type} distance;
    ${product_type} level;
${settle_declaration}
${one_for_all}    ${NAME}_READ(scaling, &${name}_scalings[${scaling_index}]);
    if (x < scaling.minimum) {
        return 0;
    }
    /* Modulo 2^${value_bits}, so that the widest ranges do not overflow. */
    distance = (${unsigned_type})((${unsigned_type})x - (${unsigned_type})scaling.minimum);
    if (distance >= scaling.span) {
        return ${NAME}_UNITS;
    }
    level = ((${product_type})distance * scaling.multiplier + ${offset}) >> ${shift};
${settle_code}    return (${name}_level)level;
}
