/*
 * roast watch: a run in the terminal, while it grows
 *
 * The view is drawn on the terminal's other screen, which is left as it was
 * found, however the program ends.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "cli.h"
#include "probe/readings.h"
#include "util/cleanup.h"
#include "watch.h"

#define REFRESH_MS   1000
#define SHARE_OF_CPU 10 /* looking takes at most a tenth of the time */

static struct termios before;
static bool drawing;

static void watch_enter(void)
{
        struct termios quiet = before;

        quiet.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
        fputs("\033[?1049h\033[?25l", stdout);
        fflush(stdout);
        drawing = true;
}

static void watch_leave(void)
{
        if (!drawing)
                return;
        fputs("\033[?25h\033[?1049l", stdout);
        fflush(stdout);
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
        drawing = false;
}

static int64_t watch_now_ms(void)
{
        return probe_monotonic_ns() / 1000000;
}

static int watch_look_once(struct buf *out, const char *path, const struct watch_size *size,
                           struct roast_error *error)
{
        struct roast_run *run;
        int r = roast_run_open_any(&run, path, error);

        if (r < 0)
                return r;
        r = watch_compose(out, run, size, error);
        roast_run_free(run);
        return r;
}

static struct watch_size watch_terminal_size(void)
{
        struct winsize window = { 0 };

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) < 0 || !window.ws_col || !window.ws_row)
                return (struct watch_size){ .width = 80, .height = 24, .color = cli_color() };
        return (struct watch_size){ .width = window.ws_col,
                                    .height = window.ws_row,
                                    .color = cli_color() };
}

/* Each line anew, and nothing cleared before: it does not flicker. */
static void watch_draw(const struct buf *view)
{
        fputs("\033[H", stdout);
        for (size_t i = 0; i < view->len; i++) {
                if (view->data[i] == '\n')
                        fputs("\033[K\r", stdout);
                putchar(view->data[i]);
        }
        fputs("\033[J", stdout);
        fflush(stdout);
}

/* Until something is to be done: true to go on */
static bool watch_wait_for(int signals, int64_t ms)
{
        struct pollfd fds[] = { { .fd = signals, .events = POLLIN },
                                { .fd = STDIN_FILENO, .events = POLLIN } };
        struct signalfd_siginfo info;
        char key;

        if (poll(fds, 2, ms > 0 ? (int)ms : 0) <= 0)
                return true;
        if (fds[1].revents && (read(STDIN_FILENO, &key, 1) != 1 || key == 'q'))
                return false;
        if (!fds[0].revents || read(signals, &info, sizeof(info)) != sizeof(info))
                return true;
        if (info.ssi_signo == SIGWINCH)
                return true;
        if (info.ssi_signo == SIGTSTP) {
                watch_leave();
                raise(SIGSTOP);
                watch_enter();
                return true;
        }
        return false;
}

static int watch_follow(const char *path, int signals)
{
        struct roast_error error = { 0 };
        int64_t due = 0;
        bool go = true;

        watch_enter();
        while (go) {
                ROAST_CLEANUP(buf_deinit) struct buf view = BUF_INIT;
                struct watch_size size = watch_terminal_size();
                int64_t begun = watch_now_ms(), pause;

                if (watch_look_once(&view, path, &size, &error) < 0) {
                        watch_leave();
                        return cli_fail("watch", "%s", error.message);
                }
                watch_draw(&view);
                pause = SHARE_OF_CPU * (watch_now_ms() - begun);
                due = watch_now_ms() + (pause > REFRESH_MS ? pause : REFRESH_MS);
                go = watch_wait_for(signals, due - watch_now_ms());
        }
        watch_leave();
        return EXIT_GOOD;
}

/* Without a terminal there is nothing to refresh: the view as it is now */
static int watch_print_once(const char *path)
{
        struct watch_size size = { 0 };
        struct buf view = BUF_INIT;
        struct roast_error error = { 0 };
        char *text;

        if (watch_look_once(&view, path, &size, &error) < 0) {
                buf_deinit(&view);
                return cli_fail("watch", "%s", error.message);
        }
        text = buf_release_string(&view);
        return text ? cli_print("watch", text) : cli_fail("watch", "out of memory");
}

static int watch(const char *path)
{
        static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH };
        sigset_t set;
        int signals, code;

        if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) < 0)
                return watch_print_once(path);
        sigemptyset(&set);
        for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
                sigaddset(&set, caught[i]);
        sigprocmask(SIG_BLOCK, &set, NULL);
        signals = signalfd(-1, &set, SFD_CLOEXEC);
        if (signals < 0)
                return cli_fail("watch", "%s", strerror(errno));
        code = watch_follow(path, signals);
        close(signals);
        return code;
}

static int watch_words(int n, char **words)
{
        (void)n;
        return watch(words[0]);
}

const struct cli_verb verb_watch = {
        .name = "watch",
        .summary = "show a run in the terminal while it grows",
        .arguments = "RUN",
        .least = 1,
        .most = 1,
        .about = "Shows a run in the terminal while it grows: progress, rates, workers, memory,\n"
                 "failures, the slowest chunks. 'q' or Ctrl-C ends it.\n",
        .completes = ".roast",
        .run = watch_words,
};
