    uint32_t even = 0, odd = 0;

    do {
        const uint32_t four = *weights++;

        odd += activations[8] * ((four >> 8) & mask);
        even += *activations++ * (four & mask);
    } while (--words);
    return (even + odd) >> 16;
