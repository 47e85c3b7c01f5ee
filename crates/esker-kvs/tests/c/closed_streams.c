/*
 * A program without standard streams, as a daemon may be: what it says goes nowhere, and above all
 * not into a file of the store, which would have got the number of a closed stream.
 */
#include "check.h"
#include <unistd.h>

#define COUNT 3000

static void value_of(int number, char *value) {
    memset(value, 'a' + number % 26, 700);
    memcpy(value, &number, sizeof number);
}

/* A descriptor of the store can be read or written; a number that is closed can be neither. */
static void speak(void) {
    static const char words[] = "these words are nobody's to keep, least of all a store's\n";
    int stream;
    char byte;
    for (stream = 0; stream <= 2; stream++) {
        if (write(stream, words, sizeof words - 1) != -1) _exit(2);
        if (read(stream, &byte, 1) != -1) _exit(3);
    }
}

static void use(enum init_enum init_type, int first, int end) {
    KVS_ENV env = make_env(init_type);
    char value[700], buf[701];
    int number, size;
    if (kv_init(&env) != 0) _exit(4);
    speak();
    for (number = 0; number < first; number++) {
        size = sizeof buf;
        value_of(number, value);
        if (kv_get((char *)&number, (int)sizeof number, buf, &size) != 0) _exit(5);
        if (size != 700 || memcmp(buf, value, 700) != 0) _exit(6);
    }
    for (; number < end; number++) {
        value_of(number, value);
        if (kv_put((char *)&number, (int)sizeof number, value, 700) != 0) _exit(7);
        if (number % 100 == 0) speak();
    }
    speak();
    if (kv_exit() != 0) _exit(8);
    speak();
}

int main(void) {
    close(0);
    close(1);
    close(2);
    use(INIT_TYPE_CREATE, 0, COUNT);
    use(INIT_TYPE_LOAD, COUNT, 2 * COUNT);
    use(INIT_TYPE_LOAD, 2 * COUNT, 2 * COUNT);
    _exit(0);
}
