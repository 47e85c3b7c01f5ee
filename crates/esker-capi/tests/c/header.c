/* The header in every dialect: sizes and places that programs rely on. */
#include <esker/c.h>

typedef char bytes_are_a_pointer_and_a_size[sizeof(esker_bytes) == 2 * sizeof(void *) ? 1 : -1];
typedef char codes_begin_with_ok[ESKER_OK == 0 && ESKER_NOT_FOUND == 1 ? 1 : -1];

int main(void) {
    return esker_abi_version() == ESKER_ABI_VERSION ? 0 : 1;
}
