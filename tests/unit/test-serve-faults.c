/*
 * serve/: starting and answering while memory, threads, reads and clocks fail
 *
 * A server starts or says why not; it answers rightly, with an error, or closes
 * the connection, and answers rightly as soon as nothing fails any more.
 */

#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alloc.h"
#include "faults.h"
#include "folder.h"
#include "roast-run.h"
#include "roast-serve.h"
#include "sample.h"
#include "util/size.h"

#define STEP_PART 16

static int make_run(void **state)
{
        struct roast_run *run;

        assert_int_equal(folder_make(state), 0);
        assert_int_equal(roast_run_create(&run, folder_path(state, "a.roast"), NULL), 0);
        assert_int_equal(sample_fill(run, 12, NULL), 0);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        roast_run_free(run);
        return 0;
}

/* An answer: in memory that is there already, since what is allocated may be what fails */
struct answer {
        int status; /* 0: there was none */
        const char *body;
        size_t len; /* of the body */
        char text[1 << 20];
};

static struct answer wanted, got;

static int connect_to(const struct roast_server *server)
{
        struct sockaddr_in address = {
                .sin_family = AF_INET,
                .sin_port = htons((uint16_t)roast_server_port(server)),
                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        assert_true(fd >= 0);
        assert_int_equal(connect(fd, &address, sizeof(address)), 0);
        return fd;
}

/* Asks, and closes the connection. */
static int get_by(int fd, const char *path, struct answer *answer)
{
        char request[256];
        size_t len = 0;
        ssize_t n;

        n = snprintf(request, sizeof(request), "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path);
        assert_int_equal(send(fd, request, (size_t)n, MSG_NOSIGNAL), n);
        while ((n = recv(fd, answer->text + len, sizeof(answer->text) - 1 - len, 0)) > 0)
                len += (size_t)n;
        close(fd);
        answer->text[len] = '\0';
        answer->status = 0;
        if (sscanf(answer->text, "HTTP/1.%*d %d", &answer->status) != 1)
                return 0;
        answer->body = strstr(answer->text, "\r\n\r\n");
        assert_non_null(answer->body);
        answer->len = len - (size_t)(answer->body - answer->text);
        return answer->status;
}

static int get(const struct roast_server *server, const char *path, struct answer *answer)
{
        return get_by(connect_to(server), path, answer);
}

static void assert_same_body(void)
{
        assert_int_equal(got.len, wanted.len);
        assert_memory_equal(got.body, wanted.body, wanted.len);
}

static const struct plan {
        enum fault kind; /* FAULT_N_KINDS: memory */
        long n;
} plans[] = {
        { FAULT_N_KINDS, 0 }, { FAULT_THREAD, -1 }, { FAULT_READ, 1 },
        { FAULT_READ, -1 },   { FAULT_CLOCK, 1 },   { FAULT_CLOCK, -1 },
};

static void begin(const struct plan *plan, long count)
{
        if (plan->kind == FAULT_N_KINDS)
                alloc_fail_after(count);
        else
                faults_fail_after(plan->kind, count, plan->n, EIO);
}

static bool end(const struct plan *plan)
{
        bool failed = plan->kind == FAULT_N_KINDS ? alloc_failed() : faults_failed();

        alloc_fail_after(-1);
        faults_none();
        return failed;
}

static void start_while(const struct plan *plan, const char *path)
{
        const struct roast_serve_options options = { .path = path, .address = "127.0.0.1" };
        bool failed = true;

        for (long count = 0; failed; count = faults_next(count, STEP_PART)) {
                struct roast_server *server = NULL;
                struct roast_error error = { 0 };
                int r;

                begin(plan, count);
                r = roast_server_start(&server, &options, &error);
                failed = end(plan);
                if (r < 0)
                        assert_true(failed && error.code == r && error.message[0]);
                else
                        assert_int_equal(get(server, "/healthz", &got), 200);
                roast_server_stop(server);
        }
}

static void test_a_server_starts_or_says_why_not(void **state)
{
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(plans); i++)
                start_while(&plans[i], folder_path(state, "a.roast"));
}

static void answer_while(const struct plan *plan, const char *path, const char *what)
{
        const struct roast_serve_options options = { .path = path };
        bool failed = true;

        for (long count = 0; failed; count = faults_next(count, STEP_PART)) {
                struct roast_server *server;
                int status;

                assert_int_equal(roast_server_start(&server, &options, NULL), 0);
                begin(plan, count);
                status = get(server, what, &got);
                failed = end(plan);
                if (status == 200)
                        assert_same_body();
                else
                        assert_true(failed && (status == 0 || status >= 500));
                assert_int_equal(get(server, what, &got), 200);
                assert_same_body();
                roast_server_stop(server);
        }
}

static void test_answers_are_right_or_errors(void **state)
{
        static const char *const asked[] = { "/api/v1/runs/a/metrics", "/runs/a/data", "/metrics" };
        const char *path = folder_path(state, "a.roast");
        const struct roast_serve_options options = { .path = path };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(asked); i++) {
                struct roast_server *server;

                assert_int_equal(roast_server_start(&server, &options, NULL), 0);
                assert_int_equal(get(server, asked[i], &wanted), 200);
                roast_server_stop(server);
                for (size_t k = 0; k < ROAST_ARRAY_SIZE(plans); k++)
                        answer_while(&plans[k], path, asked[i]);
        }
}

#define SERVERS 12 /* more than an answer reads the clock */

/* Neither is the run old for good, nor has the time of a guest passed. */
static void test_a_clock_that_failed_is_forgotten(void **state)
{
        const char *path = folder_path(state, "grows.roast");
        const struct roast_serve_options options = { .path = path };
        struct roast_server *servers[SERVERS];
        struct roast_run *run;
        int guest;

        assert_int_equal(roast_run_create(&run, path, NULL), 0);
        assert_int_equal(sample_begin(run, NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        for (long i = 0; i < SERVERS; i++) {
                assert_int_equal(roast_server_start(&servers[i], &options, NULL), 0);
                faults_fail_after(FAULT_CLOCK, i, 1, EINVAL);
                assert_int_equal(get(servers[i], "/api/v1/runs/grows/metrics", &got), 200);
                faults_none();
        }
        faults_fail_after(FAULT_CLOCK, 0, -1, EINVAL);
        guest = connect_to(servers[0]);
        while (!faults_failed())
                usleep(1000);
        usleep(100000);
        faults_none();
        assert_int_equal(sample_add_chunks(run, 12, NULL), 12);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        usleep(2200000); /* a server looks at most once a second, and at its guests too */
        for (long i = 0; i < SERVERS; i++) {
                assert_int_equal(get(servers[i], "/api/v1/runs/grows/metrics", &got), 200);
                if (!strstr(got.body, "\"num_chunks\": 12"))
                        fail_msg("the clock failed after %ld reads: the run stays old", i);
        }
        assert_int_equal(get_by(guest, "/healthz", &got), 200);
        for (long i = 0; i < SERVERS; i++)
                roast_server_stop(servers[i]);
        roast_run_free(run);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_server_starts_or_says_why_not),
                cmocka_unit_test(test_answers_are_right_or_errors),
                cmocka_unit_test(test_a_clock_that_failed_is_forgotten),
        };

        return cmocka_run_group_tests_name("serve-faults", tests, make_run, folder_remove);
}
