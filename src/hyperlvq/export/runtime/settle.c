    span = (int${remainder_bits}_t)scaling.span;
    remainder = 2 * ((int${remainder_bits}_t)${NAME}_UNITS * (int${remainder_bits}_t)distance
                     - (int${remainder_bits}_t)level * span);
    if (remainder > span || (remainder == span && (level & 1u))) {
        level++;
    } else if (remainder < -span || (remainder == -span && (level & 1u))) {
        level--;
    }
