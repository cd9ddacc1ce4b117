    best = 0;
    best_score = scores[0];
    for (i = 1; i < ${NAME}_OUTPUTS; i++) {
        if (scores[i] > best_score) {
            best = i;
            best_score = scores[i];
        }
    }
    return ${class_of_output};
