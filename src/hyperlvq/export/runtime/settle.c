    span = (${remainder_type})scaling.span;
    remainder = 2 * ((${remainder_type})${NAME}_UNITS * (${remainder_type})distance
                     - (${remainder_type})level * span);
    if (remainder > span || (remainder == span && (level & 1u))) {
        level++;
    } else if (remainder < -span || (remainder == -span && (level & 1u))) {
        level--;
    }
