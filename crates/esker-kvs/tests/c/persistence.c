/*
 * What outlives a process. First exit and LOAD, several times over; then a child that is killed
 * while it puts: everything whose put it had reported is there when its store is loaded.
 */
#include "check.h"
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define ACKNOWLEDGED 300

/* Sizes on both sides of where values begin to lie apart. */
static int size_of(int number) { return number % 7 == 0 ? 60000 : number % 500; }

static void put(int number) {
    static char value[60000];
    memset(value, number, (size_t)size_of(number));
    CHECK(kv_put((char *)&number, (int)sizeof number, value, size_of(number)) == 0);
}

static void must_have(int number) {
    static char buf[60001];
    int size = sizeof buf, place;
    CHECK(kv_get((char *)&number, (int)sizeof number, buf, &size) == 0);
    CHECK(size == size_of(number) && buf[size] == 0);
    for (place = 0; place < size; place++) CHECK(buf[place] == (char)number);
}

static void over_exits(void) {
    int round, number;
    for (round = 0; round < 4; round++) {
        KVS_ENV env = make_env(round == 0 ? INIT_TYPE_CREATE : INIT_TYPE_LOAD);
        CHECK(kv_init(&env) == 0);
        for (number = 0; number < round * 50; number++) must_have(number);
        for (; number < (round + 1) * 50; number++) put(number);
        CHECK(kv_exit() == 0);
    }
}

static void over_a_kill(void) {
    KVS_ENV env = make_env(INIT_TYPE_CREATE);
    int pipes[2], number = -1, last = -1, status;
    pid_t child;
    CHECK(pipe(pipes) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(kv_init(&env) == 0);
        for (number = 0;; number++) {
            put(number);
            CHECK(write(pipes[1], &number, sizeof number) == (ssize_t)sizeof number);
        }
    }
    CHECK(close(pipes[1]) == 0);
    while (last < ACKNOWLEDGED && read(pipes[0], &number, sizeof number) > 0) last = number;
    CHECK(kill(child, SIGKILL) == 0);
    /* What it reported before the signal came is acknowledged as well. */
    while (read(pipes[0], &number, sizeof number) > 0) last = number;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK(last >= ACKNOWLEDGED);
    env.init_type = INIT_TYPE_LOAD;
    CHECK(kv_init(&env) == 0);
    for (number = 0; number <= last; number++) must_have(number);
    CHECK(kv_exit() == 0);
}

/* The image says that there is a store: without it nothing is loaded, and nothing is lost. */
static void without_an_image(void) {
    KVS_ENV env = make_env(INIT_TYPE_LOAD);
    CHECK(rename("IMAGE_file", "elsewhere") == 0);
    CHECK(kv_init(&env) == -1);
    CHECK(strstr(kvs_errmsg(), "there is no image") != NULL);
    CHECK(rename("elsewhere", "IMAGE_file") == 0);
    CHECK(kv_init(&env) == 0);
    must_have(ACKNOWLEDGED);
    CHECK(kv_exit() == 0);
}

int main(void) {
    over_exits();
    over_a_kill();
    without_an_image();
    return 0;
}
