#include "tests/unit/test_main.h"
int main(void){return 0;}
