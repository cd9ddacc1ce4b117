"""How often the parts of a prediction occur, counted by hand."""

from hyperlvq.export.budget_sizes import Sizes
from hyperlvq.export.budget_terms import instruction_terms

# 64 units are two words of 32, or eight of 8; 6 features are one four and two ones, and 6 outputs
# have two blocks of 32 units each.


def test_a_prediction_on_a_machine_of_32_bits():
    sizes = Sizes.planned(6, 64, 3, 2, clip=3, input="int16")

    assert instruction_terms(sizes, is_avr=False) == {
        "prediction": 1,
        "level of 32 bits": 6,
        "level of 32 bits, remainder of 32 bits": 6,
        "level, index": 6,
        "count fours": 2 * 1,
        "count fours, plane": 2 * 1 * 4,
        "count fours, plane beyond 3": 2 * 1 * 1,
        "count ones": 2 * 2,
        "count ones, plane": 2 * 2 * 4,
        "word, packed": 2,
        "word, packed, kept plane": 2 * 3,
        "word, clip": 2,
        "block and output, score of 32 bits": 2 * 6,
        "product, packed": 64 // 4 * 6,
        "product, packed weights of 8 bits, full blocks": 64 // 4 * 6,
        "output": 6,
    }


def test_a_prediction_on_a_machine_of_8_bits():
    sizes = Sizes.planned(7, 64, 3, 2, clip=7, bits=16)

    assert instruction_terms(sizes, is_avr=True) == {
        "prediction": 1,
        "level of float": 7,
        "level, index": 7,
        "count fours": 8 * 1,
        "count fours, plane": 8 * 1 * 3,
        "count ones": 8 * 3,
        "count ones, plane": 8 * 3 * 3,
        "word, plain": 8,
        "word, plain, kept plane": 8 * 3,
        "block and output, score of 32 bits": 2 * 6,
        "product, 8 x 16 bits": 64 * 6,
        "product, plain weights of 16 bits, full blocks": 64 * 6,
        "product, 8 x 16 bits, full blocks, multiplied sum": 64 * 6,
        "output": 6,
    }
