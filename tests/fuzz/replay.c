/*
 * A fuzz target without a fuzzer: the seeds of its corpus, and mutations of them
 *
 *     replay-NAME FOLDER [COUNT [SECONDS [SEED]]]
 *
 * For the tests: they need no clang, and try the same inputs each time. All
 * seeds, in the order of their names, then COUNT mutations drawn from SEED, or as
 * many as SECONDS allow. What breaks the target is left in NAME-broken, in the
 * directory that it runs in. `make fuzz` is what searches.
 */

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/size.h"

#define SEEDS_MAX 64
#define INPUT_MAX (1 << 18)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Of the sanitizers, where there is one */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static struct {
        uint8_t *data;
        size_t len;
} seeds[SEEDS_MAX];
static size_t n_seeds;

static uint8_t input[INPUT_MAX];
static size_t input_len;
static char broken_name[256];
static uint64_t random_state;

static void keep_broken(void)
{
        int fd = open(broken_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        if (fd >= 0) {
                (void)!write(fd, input, input_len);
                close(fd);
        }
}

static void on_signal(int number)
{
        keep_broken();
        signal(number, SIG_DFL);
        raise(number);
}

/* The target gets bytes of its own, so that reading behind them is noticed. */
static void try_input(void)
{
        uint8_t *data = malloc(input_len ? input_len : 1);

        if (!data)
                abort();
        memcpy(data, input, input_len);
        LLVMFuzzerTestOneInput(data, input_len);
        free(data);
}

/* ---- mutations ---- */

/* xorshift64* */
static size_t below(size_t limit)
{
        random_state ^= random_state >> 12;
        random_state ^= random_state << 25;
        random_state ^= random_state >> 27;
        return limit ? (size_t)(random_state * 0x2545f4914f6cdd1du >> 16) % limit : 0;
}

static void set_number(void)
{
        static const uint64_t numbers[] = { 0,
                                            1,
                                            0x7f,
                                            0x80,
                                            0xff,
                                            0x7fff,
                                            0x8000,
                                            0xffff,
                                            0x7fffffff,
                                            0x80000000,
                                            0xffffffff,
                                            INT64_MAX,
                                            (uint64_t)INT64_MAX + 1,
                                            UINT64_MAX };
        static const size_t widths[] = { 1, 2, 4, 8 };
        uint64_t number = numbers[below(ROAST_ARRAY_SIZE(numbers))];
        size_t width = widths[below(ROAST_ARRAY_SIZE(widths))], at = below(input_len);

        if (below(2))
                number = __builtin_bswap64(number) >> (64 - 8 * width);
        if (width <= input_len - at)
                memcpy(input + at, &number, width);
}

static void cut(void)
{
        size_t at = below(input_len), len = 1 + below(below(8) ? 16 : input_len);

        if (len > input_len - at)
                len = input_len - at;
        memmove(input + at, input + at + len, input_len - at - len);
        input_len -= len;
}

static void insert(const uint8_t *data, size_t len)
{
        size_t at = below(input_len + 1);

        if (len > INPUT_MAX - input_len)
                len = INPUT_MAX - input_len;
        memmove(input + at + len, input + at, input_len - at);
        memcpy(input + at, data, len);
        input_len += len;
}

static void mutate_once(void)
{
        size_t other = below(n_seeds), from = below(seeds[other].len), at = below(input_len);

        if (!input_len) {
                insert(seeds[other].data, seeds[other].len);
                return;
        }
        switch (below(6)) {
        case 0:
                input[at] ^= (uint8_t)(1 << below(8));
                break;
        case 1:
                input[at] = (uint8_t)below(256);
                break;
        case 2:
                set_number();
                break;
        case 3:
                cut();
                break;
        case 4: /* a part of another seed */
                insert(seeds[other].data + from, 1 + below(seeds[other].len - from));
                break;
        default:
                if (!below(8))
                        input_len = at;
        }
}

static void mutate(void)
{
        size_t seed = below(n_seeds);

        input_len = seeds[seed].len;
        memcpy(input, seeds[seed].data, input_len);
        for (size_t n = (size_t)1 << below(5); n; n--)
                mutate_once();
}

/* ---- seeds ---- */

static int is_file(const struct dirent *entry)
{
        return entry->d_name[0] != '.';
}

static void read_seed(const char *folder, const char *name)
{
        char path[4096];
        struct stat st;
        int fd;

        (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > INPUT_MAX || n_seeds == SEEDS_MAX ||
            !(seeds[n_seeds].data = malloc((size_t)st.st_size + 1)) ||
            read(fd, seeds[n_seeds].data, (size_t)st.st_size) != st.st_size) {
                fprintf(stderr, "replay: %s: cannot be read\n", path);
                exit(1);
        }
        seeds[n_seeds++].len = (size_t)st.st_size;
        close(fd);
}

static void read_seeds(const char *folder)
{
        struct dirent **entries;
        int n = scandir(folder, &entries, is_file, alphasort);

        for (int i = 0; i < n; i++) {
                read_seed(folder, entries[i]->d_name);
                free(entries[i]);
        }
        if (n > 0)
                free(entries);
        if (n_seeds == 0) {
                fprintf(stderr, "replay: %s: has no seeds\n", folder);
                exit(1);
        }
}

int main(int argc, char **argv)
{
        long count = argc > 2 ? atol(argv[2]) : 1000, seconds = argc > 3 ? atol(argv[3]) : 10;
        const char *name = strrchr(argv[0], '/');
        time_t end = time(NULL) + seconds;
        long tried = 0;

        if (argc < 2) {
                fprintf(stderr, "replay-NAME FOLDER [COUNT [SECONDS [SEED]]]\n");
                return 2;
        }
        (void)snprintf(broken_name, sizeof(broken_name), "%s-broken", name ? name + 1 : argv[0]);
        random_state = argc > 4 ? strtoull(argv[4], NULL, 0) | 1 : 88172645463325252u;
        signal(SIGABRT, on_signal);
        if (__sanitizer_set_death_callback)
                __sanitizer_set_death_callback(keep_broken);
        else
                signal(SIGSEGV, on_signal);
        read_seeds(argv[1]);
        for (size_t i = 0; i < n_seeds; i++) {
                input_len = seeds[i].len;
                memcpy(input, seeds[i].data, input_len);
                try_input();
        }
        for (; tried < count && time(NULL) < end; tried++) {
                mutate();
                try_input();
        }
        printf("%zu seeds and %ld mutations of them\n", n_seeds, tried);
        for (size_t i = 0; i < n_seeds; i++)
                free(seeds[i].data);
        return 0;
}
