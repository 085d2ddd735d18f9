#include <whit/whit.h>

int main() { return 0; }
