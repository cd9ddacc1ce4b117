/* Calls two models, whose names do not get in each other's way. */
#include "one.h"
#include "two.h"

int main(void)
{
    float x[4] = {5, 3, 1, 0};

    return one_predict(x) != two_predict(x);
}
