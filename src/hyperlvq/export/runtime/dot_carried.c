    uint32_t even = 0, odd = 0, total = 0;

    do {
        do {
            const uint32_t four = *weights++;

            odd += activations[8] * ((four >> 8) & mask);
            even += *activations++ * (four & mask);
        } while (--words % ${words_per_carry});
        total += (even + odd) >> 16;
        even = odd = 0;
    } while (words);
    return total;
